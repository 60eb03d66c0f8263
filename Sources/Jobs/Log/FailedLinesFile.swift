import JSON
import OperatingSystem

/// The file that a job's `errors` names: results of lines that failed, which the output then has not. It is replaced as
/// a whole, right before the output is; empty, or only its first line, where all went well.
final class FailedLinesFile {
    private let place: OutputPlace
    private let draft: File
    private var writer: BufferedWriter
    private var encoder: ResultEncoder
    private(set) var sum = OutputLog.Sum()

    /// - Parameters:
    ///   - path: as the job gives it.
    ///   - format: of the output.
    init(_ path: String, format: any ResultFormat, run: ResultRun, in system: FileSystem) throws {
        let paths = try OutputPaths(output: path, in: system)
        place = try OutputPlace(paths, output: path, in: system)
        // Only a run of this output writes it, and that has the output's lock.
        try RunFile.removeLeftover(paths.draft, .outputDraft, isKnown: true, in: system)
        let packer = try paths.makePacker()
        draft = try place.makeDraft()
        writer = BufferedWriter(draft, packer: packer)
        encoder = format.makeEncoder(for: run, .failures)
        try write { $0.begin(&$1) }
    }

    func append(_ result: GenerationResult, at place: ResultPlace) throws {
        try write { $0.append(result, at: place, to: &$1) }
    }

    private func write(_ body: (inout ResultEncoder, inout [UInt8]) -> Void) throws {
        try writer.withBuffer { bytes in
            let before = bytes.count
            body(&encoder, &bytes)
            bytes.withUnsafeBytes { sum.add(UnsafeRawBufferPointer(rebasing: $0[before...])) }
        }
    }

    /// No more results come.
    func end() throws { try write { $0.end(&$1) } }

    /// On the disk.
    func putInPlace() throws {
        try writer.finish()
        try place.replace(with: draft) {}
    }

    func abandon() {
        guard draft.path == place.paths.draft else { return }
        try? draft.remove()
    }

    // MARK: What is there

    /// - Throws: `UserError` if something else than a run's failed lines has the name, such as another job's output.
    static func check(_ path: String, in system: FileSystem) throws {
        let paths = try OutputPaths(output: path, in: system)
        _ = try OutputPlace(paths, output: path, in: system)
        guard Files.kind(of: paths.output) == .regular,
            let start = try? ByteSource(path: paths.output).readAll(limit: 1 << 20), !start.isEmpty
        else { return }
        // An output has files of its own beside it.
        let isOutput = Files.kind(of: paths.log) != nil
        let lines = start.split(separator: 0x0a, maxSplits: 2)
        if !isOutput, lines.prefix(2).contains(where: isFailedLine) { return }
        throw UserError(
            .badJob, at: path,
            "is there, and has no failed lines of phibatch. Name another file as errors, or move it away.")
    }

    /// A result of a line that failed, the first line of a table, or an array without elements.
    private static func isFailedLine(_ line: ArraySlice<UInt8>) -> Bool {
        let line = line.last == UInt8(ascii: ",") ? Array(line.dropLast()) : Array(line)
        if line == Array("[]".utf8) { return true }
        if isTableHead(line) { return true }
        guard let json = try? JSONValue(parsing: line, limits: .ownLine), json["id"] != nil else {
            return false
        }
        if case .object? = json["error"] { return true }
        return json["response"]?.int("status_code") ?? 0 >= 400
    }

    /// Between these columns are those of the task.
    private static func isTableHead(_ line: [UInt8]) -> Bool {
        let text = String(decoding: line, as: UTF8.self)
        return [",", "\t"].contains { separator in
            text.hasPrefix(["id", "sample", ""].joined(separator: separator))
                && text.contains(["", "error", "error_message"].joined(separator: separator))
        }
    }
}
