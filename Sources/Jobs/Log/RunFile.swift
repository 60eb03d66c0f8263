import Errors
import FoundationShim
import JSON
import OperatingSystem

/// Files beside the output that only phibatch makes, and how they are told from anybody else's: a name proves
/// nothing, so each is looked into before it is written, moved or removed, and a link is never followed.
package enum RunFile {
    package enum Use: String {
        case log = "log of the output"
        case newLog = "first draft of the log"
        case logDraft = "draft of the log of the output"
        case lock
        case outputDraft = "draft of the output"
    }

    /// Opens a file of ours; nil if there is none.
    /// - Throws: `UserError` of kind `mismatch` if what is there isn't ours.
    package static func open(
        _ path: String, _ use: Use, _ access: FileAccess, in system: FileSystem
    ) throws(UserError) -> File? {
        guard let file = try openUnchecked(path, use, access, in: system) else { return nil }
        guard try isOurs(file, use) else { throw foreign(path, use) }
        return file
    }

    /// As `open`, but the content is left to the caller.
    static func openUnchecked(
        _ path: String, _ use: Use, _ access: FileAccess, in system: FileSystem
    ) throws(UserError) -> File? {
        let file: File?
        do {
            file = try File.openIfPresent(path, access, in: system)
        } catch {
            // The call's own answer to a link; or what is there can't be opened for writing.
            if let there = try? system.entry(path), there.kind != .regular { throw foreign(path, use) }
            throw error
        }
        guard let file else { return nil }
        guard try file.info().kind == .regular else { throw foreign(path, use) }
        return file
    }

    /// Removes what a killed run left half written.
    /// - Parameter isKnown: something else than its content says that it is ours.
    /// - Throws: `UserError`: `mismatch` if it isn't ours, `locked` if a run that lives is writing it.
    static func removeLeftover(
        _ path: String, _ use: Use, isKnown: Bool = false, in system: FileSystem
    ) throws(UserError) {
        // Most often there is nothing.
        guard try system.entryIfPresent(path) != nil else { return }
        guard let file = try openUnchecked(path, use, .readOwn, in: system) else { return }
        guard try file.lock() else { throw inUse(path) }
        if !isKnown { guard try isOurs(file, use) else { throw foreign(path, use) } }
        try file.remove()
    }

    static func foreign(_ path: String, _ use: Use) -> UserError {
        UserError(
            .mismatch, at: path,
            "was not made by phibatch, which would keep its \(use.rawValue) under this name. It is left as it is; "
                + "move it away, or name another output.")
    }

    static func inUse(_ path: String) -> UserError {
        UserError(.locked, at: path, "another run is writing it.")
    }

    // MARK: - Content

    /// Whether the content is what phibatch writes into such a file, perhaps not to its end.
    static func isOurs(_ file: File, _ use: Use) throws(UserError) -> Bool {
        try UserError.of(file.path) {
            // A power failure may leave zeros of a block that was not synced.
            let start = try file.bytes(0..<64)
            if !start.isEmpty, start.allSatisfy({ $0 == 0 }) { return true }
            switch use {
            case .log: return try holdsRecord(file)
            case .newLog, .logDraft: return try begins(file, with: ChecksummedLine.start)
            case .lock: return try OutputLock.lockHolder(in: file) != nil
            case .outputDraft: return try begins(file, with: "{\"id\":")
            }
        }
    }

    /// Any line with a valid sum will do: the first one may be damaged. So will a beginning as ours, packed or of a header,
    /// with nothing after it that could be checked.
    private static func holdsRecord(_ file: File) throws -> Bool {
        let start = try file.bytes(0..<64)
        if Packing(start: start) == .gzip { return try begins(file, with: ChecksummedLine.start) }
        var found = false
        try file.forEachLine { line in
            found = line.isWhole && ChecksummedLine.isValid(line.bytes)
            return !found
        }
        return found || start.withUnsafeBytes { ChecksummedLine.begins($0, LogHeader.marker) }
    }

    /// Whether a draft begins so, as far as it goes.
    private static func begins(_ file: File, with start: StaticString) throws -> Bool {
        // A block of zstd has up to 128 KiB.
        let read = try file.bytes(0..<1 << 18)[...]
        let expected = UnsafeBufferPointer(start: start.utf8Start, count: start.utf8CodeUnitCount)
        return read.starts(with: expected.prefix(read.count))
            || Packing(start: read).flatMap { beginning(of: read, $0) }?.starts(with: expected) ?? false
    }

    /// The first text of a packed file of which this is the beginning; nil if it is none.
    private static func beginning(of read: ArraySlice<UInt8>, _ packing: Packing) -> ArraySlice<UInt8>? {
        var (rest, text) = (read, [UInt8](repeating: 0, count: 64))
        let count = try? text.withUnsafeMutableBytes { text in
            try Unpacker(packing).read(into: text) { buffer in
                let part = rest.prefix(buffer.count)
                buffer.copyBytes(from: part)
                rest = rest.dropFirst(part.count)
                return part.count
            }
        }
        return count.map { text[..<$0] }
    }
}
