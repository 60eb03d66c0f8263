import Errors
import FoundationShim
import OperatingSystem

/// The file or stream of a report. The file gets its name once complete.
package final class ReportFile {
    private let system: FileSystem = .real
    private let draft: File?
    private let target: String
    private let earlier: FileInfo?
    private var writer: BufferedWriter?
    package private(set) var byteCount = 0

    /// - Parameters:
    ///   - path: `-` is stdout.
    ///   - head: the beginning of any report. An existing file is replaced if it has that, or is empty.
    /// - Throws: `UserError` if another file is there, or nothing can be written there.
    package init(_ path: String, head: [UInt8]) throws {
        guard path != "-" else {
            (draft, target, earlier) = (nil, path, nil)
            return
        }
        // A link as output is followed, as a run's is.
        target = try OutputPaths(output: path, in: system).output
        earlier = try system.entryIfPresent(target)
        if let earlier, earlier.size > 0 || earlier.kind != .regular, !Files.begins(target, with: head) {
            let what: Message =
                earlier.kind == .folder ? "is a folder" : "exists and is no report of phibatch"
            throw UserError(
                .cannotWrite, at: path, "\(what). Name another file with --output, or move it away.")
        }
        let name = target + ".phibatch-report"
        // Left by a killed command.
        if Files.begins(name, with: head) { try system.removeIfPresent(name) }
        let file = try RunFile.create(name, in: system)
        draft = file
        writer = BufferedWriter(file)
    }

    package func write(_ bytes: [UInt8]) throws {
        byteCount += bytes.count
        guard writer == nil else { return try writer?.withBuffer { $0 += bytes } ?? () }
        do throws(SystemError) { try Files.write(bytes, to: 1) } catch {
            throw UserError(.io, at: "stdout", "cannot be written", error)
        }
    }

    /// Gives the file its name.
    package func finish() throws {
        try writer?.flush()
        try draft?.replace(target, earlier)
    }

    /// Removes the draft.
    package func discard() { try? draft?.remove() }
}
