import Errors
import FoundationShim
import OperatingSystem

/// The file that a report is written to, or a stream. It gets its name when it is whole.
package final class ReportFile {
    private let system: any FileSystem = POSIXFileSystem()
    private let draft: File?
    private let target: String
    private let earlier: FileInfo?
    private var writer: BufferedWriter?
    package private(set) var byteCount = 0

    /// - Parameters:
    ///   - path: `-` is stdout.
    ///   - head: how all reports begin. A file that is there already is replaced if it begins so, or is empty.
    /// - Throws: `UserError` if something else is there or if nothing can be written there.
    package init(_ path: String, head: [UInt8]) throws {
        guard path != "-" else {
            (draft, target, earlier) = (nil, path, nil)
            return
        }
        // A link as output is followed, as that of a run is.
        target = try OutputPaths(output: path, in: system).output
        earlier = try system.entryIfPresent(target)
        if let earlier, earlier.size > 0 || earlier.kind != .regular, !OwnFile.begins(target, with: head) {
            let what: Message =
                earlier.kind == .folder ? "is a folder" : "is there already and is no report of phibatch"
            throw UserError(
                .cannotWrite, at: path, "\(what). Name another file with --output, or move it away.")
        }
        let name = target + ".phibatch-report"
        // What a killed command left.
        if OwnFile.begins(name, with: head) { try system.removeIfPresent(name) }
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

    /// Puts it in place.
    package func finish() throws {
        try writer?.flush()
        try draft?.replace(target, earlier)
    }

    /// Leaves nothing.
    package func discard() { try? draft?.remove() }
}
