import PhiText

/// Prompts of some results, read from the input again.
package struct ReportPrompts {
    /// Longer prompts and answers are cut in a report.
    package static let textLimit = 32 << 10

    package enum Prompt: Equatable {
        /// - Parameter length: in bytes, before the cut.
        case text(String, length: Int)
        /// The input's line of that id has other content than the result's.
        case changed
        /// The line has no prompt.
        case absent
        /// The input has no such line.
        case gone
    }

    /// Hashes of a result's id and of its line's content.
    package struct Name: Hashable {
        var id: UInt64
        var content: UInt64
    }

    /// Texts as UTF-8, one after the other, and the place of each; nil if space ran out.
    private var bytes: [UInt8] = []
    private var places: [Name: (range: Range<Int>, length: Int)?] = [:]
    /// Hashes of the first line of an id, by all schemes.
    private var contents: [UInt64: [UInt64]] = [:]

    /// Reads the whole input.
    /// - Parameters:
    ///   - ids: hashes of the ids whose prompts are needed; see `hash`.
    ///   - schemes: the results' schemes, besides the job's own.
    ///   - limit: bytes of all texts.
    /// - Throws: `UserError` if the input can't be read or a template is malformed.
    init(of job: JobSettings, for ids: Set<UInt64>, schemes: [LineScheme] = [], limit: Int = .max) throws {
        let builder = try PromptBuilder(job)
        let keys = try LineKeys(job, earlier: schemes)
        var reader = job.inputReader()
        while let line = try reader.next() {
            if line.isHalf { continue }
            let line = JobLine(line, keys)
            let id = Self.hash(line.id)
            guard ids.contains(id) else { continue }
            let hashes = line.hashes
            if contents[id] == nil { contents[id] = hashes }
            let names = hashes.map { Name(id: id, content: $0) }.filter { places[$0] == nil }
            guard !names.isEmpty, case .success(let record) = line.record,
                let prompt = try? builder.prompt(for: record)
            else { continue }
            let text = Self.text(of: prompt)
            let cut = Self.cut(text).utf8
            let hasRoom = bytes.count + cut.count <= limit
            if hasRoom { bytes += cut }
            let place = hasRoom ? (bytes.count - cut.count..<bytes.count, text.utf8.count) : nil
            for name in names { places.updateValue(place, forKey: name) }
        }
    }

    package static func hash(_ id: String) -> UInt64 {
        var id = id
        return id.withUTF8 { Checksum.crc64(UnsafeRawBufferPointer($0)) }
    }

    /// Returns at most that many bytes of a text.
    package static func cut(_ text: String, to textLimit: Int = textLimit) -> String {
        guard text.utf8.count > textLimit else { return text }
        // Such an index falls back to the beginning of its scalar.
        return String(text.unicodeScalars[..<text.utf8.index(text.startIndex, offsetBy: textLimit)])
    }

    /// Whether there is a prompt, but no space was left for it.
    func isLeftOut(_ name: Name) -> Bool {
        if let place = places[line(of: name)] { place == nil } else { false }
    }

    func prompt(_ name: Name) -> Prompt {
        if let place = places[line(of: name)] ?? nil {
            return .text(String(decoding: bytes[place.range], as: UTF8.self), length: place.length)
        }
        guard let known = contents[name.id] else { return .gone }
        return known.contains(line(of: name).content) ? .absent : .changed
    }

    /// The name with the line's own hash, if its result was made again.
    private func line(of name: Name) -> Name {
        let first = contents[name.id]?.first { ResultKey.redo(of: name.content, from: $0) != nil }
        return Name(id: name.id, content: first ?? name.content)
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
