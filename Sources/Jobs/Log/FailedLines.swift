import JSON
import OperatingSystem

/// The file that a job's `errors` names: results of lines that failed, which the output then has not. It is replaced as
/// a whole, right before the output is; empty, or only its first line, where all went well.
enum FailedLines {
    /// - Parameter path: as the job gives it.
    static func draft(
        _ path: String, _ encoder: ResultEncoder, in system: FileSystem
    ) throws -> ResultDraft {
        let paths = try OutputPaths(output: path, in: system).examined()
        // Only a run of this output writes it, and that has the output's lock.
        try paths.draft.removeLeftover(isKnown: true)
        return try ResultDraft(at: paths, encoder)
    }

    /// - Throws: `UserError` if something else than a run's failed lines has the name, such as another job's output.
    static func check(_ path: String, in system: FileSystem) throws {
        let paths = try OutputPaths(output: path, in: system).examined()
        guard Files.kind(of: paths.output) == .regular,
            let start = try? ByteSource(path: paths.output).readAll(limit: 1 << 20), !start.isEmpty
        else { return }
        // An output has files of its own beside it.
        let isOutput = Files.kind(of: paths.log.path) != nil
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
