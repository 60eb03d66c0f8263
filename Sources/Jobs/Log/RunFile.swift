import Errors
import FoundationShim
import JSON
import OperatingSystem

/// A file beside the output that only phibatch makes, and how it is told from anybody else's: a name proves
/// nothing, so each is looked into before it is written, moved or removed, and a link is never followed.
package struct RunFile: CustomStringConvertible {
    package enum Use: String {
        case log = "log of the output"
        case newLog = "first draft of the log"
        case logDraft = "draft of the log of the output"
        case lock
        case outputDraft = "draft of the output"
    }

    package let path: String
    let use: Use
    private let system: FileSystem

    package init(_ path: String, _ use: Use = .log, in system: FileSystem = .real) {
        (self.path, self.use, self.system) = (path, use, system)
    }

    package var description: String { path }

    /// Opens it; nil if there is none.
    /// - Throws: `UserError` of kind `mismatch` if what is there isn't ours.
    package func open(_ access: FileAccess) throws(UserError) -> File? {
        guard let file = try openUnchecked(access) else { return nil }
        guard try isOurs(file) else { throw foreign }
        return file
    }

    /// As `open`, but the content is left to the caller.
    func openUnchecked(_ access: FileAccess) throws(UserError) -> File? {
        let file: File?
        do { file = try File.openIfPresent(path, access, in: system) } catch {
            // The call's own answer to a link; or what is there can't be opened for writing.
            if let there = try? system.entry(path), there.kind != .regular { throw foreign }
            throw error
        }
        guard let file else { return nil }
        guard try file.info().kind == .regular else { throw foreign }
        return file
    }

    /// Removes what a killed run left half written.
    /// - Parameter isKnown: something else than its content says that it is ours.
    /// - Throws: `UserError`: `mismatch` if it isn't ours, `locked` if a run that lives is writing it.
    func removeLeftover(isKnown: Bool = false) throws(UserError) {
        // Most often there is nothing.
        guard try system.entryIfPresent(path) != nil, let file = try openUnchecked(.readOwn) else { return }
        guard try file.lock() else { throw inUse }
        if !isKnown { guard try isOurs(file) else { throw foreign } }
        try file.remove()
    }

    var foreign: UserError {
        UserError(
            .mismatch, at: path,
            "was not made by phibatch, which would keep its \(use.rawValue) under this name. It is left as it is; "
                + "move it away, or name another output.")
    }

    var inUse: UserError { UserError(.locked, at: path, "another run is writing it.") }

    // MARK: - Content

    /// Whether the content is what phibatch writes into such a file, perhaps not to its end.
    func isOurs(_ file: File) throws(UserError) -> Bool {
        try UserError.of(path) {
            // A power failure may leave zeros of a block that was not synced.
            let start = try file.bytes(0..<64)
            if !start.isEmpty, start.allSatisfy({ $0 == 0 }) { return true }
            switch use {
            case .log: return try Self.holdsRecord(file)
            case .newLog, .logDraft: return try Self.begins(file, with: ChecksummedLine.start)
            case .lock: return try OutputLock.Holder(of: file) != nil
            case .outputDraft: return try Self.begins(file, with: "{\"id\":")
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
