import OperatingSystem
import PhiText

/// The prompts of some results, read from the input again and put out of the way until they are wanted.
package final class ReportPrompts {
    /// Longer prompts are cut in a report, and so are answers.
    package static let textLimit = 32 << 10

    package enum Prompt {
        /// - Parameter length: in bytes, before it was cut.
        case text(String, length: Int)
        /// The input has a line of that id, but not with the content that the result is of.
        case changed
        /// The input has no such line.
        case none
    }

    private struct Name: Hashable {
        var id: UInt64
        var content: UInt64
    }

    private struct Place {
        var range: Range<Int>
        var length: Int
    }

    private let file: ScratchFile
    private var places: [Name: Place] = [:]
    /// The content of the first line of an id, by all schemes.
    private var contents: [UInt64: [UInt64]] = [:]

    /// Reads the whole input.
    /// - Parameters:
    ///   - ids: hashes of the ids whose prompts will be asked for; see `hash`.
    ///   - schemes: by which the results know their lines, beside the job's own.
    ///   - folder: where the prompts go meanwhile; nil for memory.
    /// - Throws: `JobError` if the input can't be read or a template is malformed.
    package init(
        of job: JobSettings, for ids: Set<UInt64>, schemes: [LineScheme] = [], folder: String?,
        progress: (Int) -> Void = { _ in }
    ) throws {
        file = ScratchFile(in: folder)
        let builder = try PromptBuilder(job)
        let keys = try LineKeys(job, earlier: schemes)
        var reader = job.inputReader()
        var lines = 0
        while let line = try reader.next() {
            if reader.isHalf(line) { continue }
            lines += 1
            if lines & 0xfff == 0 { progress(lines) }
            let identity = LineIdentity(line, by: reader, keys)
            let id = Self.hash(identity.id)
            guard ids.contains(id) else { continue }
            let hashes = [identity.contentHash] + identity.earlierHashes
            if contents[id] == nil { contents[id] = hashes }
            let names = hashes.map { Name(id: id, content: $0) }.filter { places[$0] == nil }
            guard !names.isEmpty, case .success(let record) = identity.record,
                let prompt = try? builder.prompt(for: record)
            else { continue }
            try store(Self.text(of: prompt), as: names)
        }
    }

    package static func hash(_ id: String) -> UInt64 {
        var id = id
        return id.withUTF8 { Checksum.crc64(UnsafeRawBufferPointer($0)) }
    }

    private func store(_ text: String, as names: [Name]) throws {
        let range = try file.append(Array(Self.cut(text).utf8))
        for name in names { places[name] = Place(range: range, length: text.utf8.count) }
    }

    /// At most that many bytes of it.
    package static func cut(_ text: String, to textLimit: Int = textLimit) -> String {
        guard text.utf8.count > textLimit else { return text }
        // Such an index falls back to the beginning of its scalar.
        return String(text.unicodeScalars[..<text.utf8.index(text.startIndex, offsetBy: textLimit)])
    }

    /// How many bytes `prompt(id:content:)` has; 0 if there is no prompt.
    package func byteCount(id: UInt64, content: UInt64?) -> Int { place(id, content)?.range.count ?? 0 }

    /// Whether the input has no such line, or another content in it.
    package func isWithoutLine(id: UInt64, content: UInt64?) -> Bool {
        guard let known = contents[id] else { return true }
        guard let content = content.map({ first($0, id) }), !known.contains(content) else { return false }
        return places[Name(id: id, content: content)] == nil
    }

    /// - Parameters:
    ///   - id: its hash.
    ///   - content: the line's hash as the result has it; nil where it has none.
    package func prompt(id: UInt64, content: UInt64?) throws -> Prompt {
        guard let place = place(id, content) else {
            guard let known = contents[id] else { return .none }
            return content.map { known.contains(first($0, id)) } ?? true ? .none : .changed
        }
        return .text(String(decoding: try file.bytes(in: place.range), as: UTF8.self), length: place.length)
    }

    private func place(_ id: UInt64, _ content: UInt64?) -> Place? {
        guard let content = content.map({ first($0, id) }) ?? contents[id]?.first else { return nil }
        return places[Name(id: id, content: content)]
    }

    /// The hash of the line itself, where a result of it was made again.
    private func first(_ content: UInt64, _ id: UInt64) -> UInt64 {
        contents[id]?.first { WorkKey.redo(of: content, from: $0) != nil } ?? content
    }

    /// One question alone is its own text; of several messages each has its role before it.
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

/// Bytes that are put out of memory for a while: a file without a name, which is gone with the process however it ends.
/// Where no file can be made, memory takes them.
final class ScratchFile {
    private let file: File?
    private var held: [UInt8] = []
    private var end = 0

    /// - Parameter folder: one meant for what may be lost, such as the cache, which is made if it is not there; nil for
    ///   memory.
    init(in folder: String?) { file = folder.flatMap { try? Self.nameless(in: $0) } }

    private static func nameless(in folder: String) throws -> File {
        try Files.makeFolder(folder)
        return try File.nameless(in: folder, POSIXFileSystem())
    }

    /// - Returns: where they are.
    func append(_ bytes: [UInt8]) throws -> Range<Int> {
        if let file { try bytes.withUnsafeBytes { try file.write($0, at: end) } } else { held += bytes }
        defer { end += bytes.count }
        return end..<end + bytes.count
    }

    func bytes(in range: Range<Int>) throws -> [UInt8] {
        guard let file else { return Array(held[range]) }
        var bytes = [UInt8](repeating: 0, count: range.count)
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: range.lowerBound) }
        guard count == bytes.count else { throw StoreError.changedUnderneath(file.path) }
        return bytes
    }
}

extension WeightCacheLocation {
    /// A folder for what is put out of memory for a while; nil if there is no cache folder.
    package var scratchFolder: String? { folder.map { $0 + "/scratch" } }
}
