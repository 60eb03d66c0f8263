import JSON
import PhiText

/// Prompts of some results, read from the input again.
struct ReportPrompts {
    /// A prompt, maybe cut, and its length in bytes before.
    typealias Prompt = (text: String, length: Int)

    /// The lines of each id, by its hash, with their hashes by all schemes.
    private var lines: [UInt64: [(hashes: [UInt64], prompt: Prompt)]] = [:]

    /// Reads the whole input.
    /// - Parameters:
    ///   - ids: hashes of the ids whose prompts are needed; see `hash`.
    ///   - schemes: the results' schemes, besides the job's own.
    /// - Throws: `UserError` if the input can't be read or a template is malformed.
    init(of job: JobSettings, for ids: Set<UInt64>, schemes: [LineScheme] = []) throws {
        let builder = try PromptBuilder(job)
        let keys = try LineKeys(job, earlier: schemes)
        var reader = job.inputReader()
        while let line = try reader.next() {
            if line.isHalf { continue }
            let line = JobLine(line, keys)
            let id = Self.hash(line.id)
            guard ids.contains(id), case .success(let record) = line.record,
                let prompt = try? builder.prompt(for: record)
            else { continue }
            let text = Self.text(of: prompt)
            lines[id, default: []].append((line.hashes, (text.cut(), text.utf8.count)))
        }
    }

    static func hash(_ id: String) -> UInt64 {
        var id = id
        return id.withUTF8 { Checksum.crc64(UnsafeRawBufferPointer($0)) }
    }

    /// Returns the prompt that a result is of; nil if the input has none, or the line has changed.
    func prompt(of key: ResultKey) -> Prompt? {
        lines[Self.hash(key.id)]?.first { line in
            line.hashes.contains { ResultKey.redo(of: key.contentHash, from: $0) != nil }
        }?.prompt
    }

    /// A single question is its own text; several messages have their roles before them.
    static func text(of prompt: PhiText.Prompt) -> String {
        switch prompt {
        case .messages(let messages): text(of: messages)
        case .continued(let messages, let prefix): text(of: messages) + "\n\n[the answer begins]\n" + prefix
        case .text(let text): text
        case .tokens(let tokens): "token ids: " + tokens.map(String.init).joined(separator: " ")
        }
    }

    private static func text(of messages: [ChatMessage]) -> String {
        if messages.count == 1, messages[0].role == "user" { return messages[0].content }
        return messages.map { "[\($0.role)]\n\($0.content)" }.joined(separator: "\n\n")
    }
}

extension String {
    /// Returns at most that many bytes of a text, by default as many as a report shows.
    package func cut(to limit: Int = 32 << 10) -> String {
        // Such an index falls back to the beginning of its scalar.
        utf8.count > limit ? String(unicodeScalars[..<utf8.index(startIndex, offsetBy: limit)]) : self
    }
}
