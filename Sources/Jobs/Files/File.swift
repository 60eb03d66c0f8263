import FoundationShim
import OperatingSystem

/// An open file with complete transfers, and errors that name the path. Closed with the last reference.
package final class File {
    /// Changes when the file is put in place.
    var path: String
    let system: FileSystem
    let descriptor: Int32

    private init(path: String, system: FileSystem, descriptor: Int32) {
        self.path = path
        self.system = system
        self.descriptor = descriptor
    }

    deinit { system.close(descriptor) }

    static func open(_ path: String, _ access: FileAccess, in system: FileSystem) throws(UserError)
        -> File
    {
        do {
            let descriptor = try system.retrying(try system.open(path, access))
            return File(path: path, system: system, descriptor: descriptor)
        } catch {
            switch access {
            case .read, .readStream, .readOwn:
                throw UserError(.io, at: path, "cannot be opened for reading", error)
            case .readWrite:
                throw UserError(.cannotWrite, at: path, "cannot be opened for writing", error)
            case .createNew, .nameless:
                throw UserError(.cannotWrite, at: path, "cannot be created", error)
            }
        }
    }

    /// Nil if there is no such file.
    package static func openIfPresent(
        _ path: String, _ access: FileAccess, in system: FileSystem
    ) throws(UserError) -> File? {
        do {
            return try open(path, access, in: system)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    package func info() throws(UserError) -> FileInfo {
        try attempt("cannot be examined", try system.info(descriptor))
    }

    /// - Returns: the number of bytes read, less than asked for only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(UserError) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let position = offset + done
            let count = try attempt("cannot be read", try system.read(descriptor, into: rest, at: position))
            if count == 0 { break }
            done += count
        }
        return done
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(UserError) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let position = offset + done
            let count = try attempt("cannot be written", try system.write(descriptor, rest, at: position))
            guard count > 0 else { throw UserError(.io, at: path, "cannot be written: no progress.") }
            done += count
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(UserError) {
        let written = bytes.withUnsafeBytes { bytes in
            Result { () throws(UserError) in try write(bytes, at: offset) }
        }
        try written.get()
    }

    /// Returns the bytes of a range, fewer only at the end of the file.
    func bytes(_ range: Range<Int>) throws(UserError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        let count = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(UserError) in try read(into: buffer, at: range.lowerBound) }
        }
        return try Array(bytes.prefix(count.get()))
    }

    func fill(_ range: Range<Int>, with byte: UInt8) throws {
        let bytes = [UInt8](repeating: byte, count: min(range.count, 1 << 16))
        for start in stride(from: range.lowerBound, to: range.upperBound, by: 1 << 16) {
            try bytes.withUnsafeBytes {
                try write(
                    UnsafeRawBufferPointer(rebasing: $0[..<min($0.count, range.upperBound - start)]),
                    at: start)
            }
        }
    }

    func sync() throws(UserError) {
        try attempt("cannot be synced to disk", try system.sync(descriptor))
    }

    func truncate(to size: Int) throws(UserError) {
        try attempt("cannot be shortened", try system.truncate(descriptor, to: size))
    }

    /// - Returns: false if another process holds the lock; nil if the file system has no locks.
    func tryLock(exclusive: Bool) throws(UserError) -> Bool? {
        do {
            return try attempt("cannot be locked", try system.lock(descriptor, exclusive: exclusive))
        } catch {
            if let code = error.code, [ENOSYS, ENOTSUP, EOPNOTSUPP, ENOLCK].contains(code) { return nil }
            throw error
        }
    }

    /// - Returns: false if another process holds the lock.
    func lock(exclusive: Bool) throws(UserError) -> Bool { try tryLock(exclusive: exclusive) ?? true }

    /// Whether `path` still names this file.
    func isInPlace() throws(UserError) -> Bool {
        guard let there = try system.entryIfPresent(path) else { return false }
        return there.isSameFile(as: try info())
    }

    /// Renames the file to a name that must be free.
    func moveNew(to target: String) throws(UserError) {
        do {
            try system.retrying(try system.renameNew(path, to: target))
        } catch {
            if error.code == EEXIST { throw UserError.appeared(target) }
            throw UserError(.io, at: target, "cannot be put in place (rename)", error)
        }
        path = target
    }

    /// Renames the file, replacing `earlier`; nil if nothing may exist there.
    func replace(_ target: String, _ earlier: FileInfo?) throws(UserError) {
        guard let earlier, let there = try system.entryIfPresent(target) else {
            return try moveNew(to: target)
        }
        guard there.isSameFile(as: earlier) else {
            throw UserError.appeared(target)
        }
        try system.moveIntoPlace(path, to: target)
        path = target
    }

    /// Removes the file's name, if it still is this file's.
    func remove() throws(UserError) {
        if try isInPlace() { try system.removeIfPresent(path) }
    }

    func setMode(_ mode: UInt32) throws(UserError) {
        try attempt("cannot be given its permissions", try system.setMode(descriptor, mode))
    }

    func attempt<T>(
        _ what: String, _ call: @autoclosure () throws(SystemError) -> T
    ) throws(UserError) -> T {
        try system.attempt(what, path, try call())
    }
}

/// Collects bytes and writes them sequentially to a file.
struct BufferedWriter {
    private let file: File
    private let packer: Packer?
    private var buffer: [UInt8] = []
    private var offset = 0
    private static let capacity = 1 << 20

    /// - Parameter packer: compresses the bytes; `finish` must end it.
    init(_ file: File, packer: Packer? = nil) {
        (self.file, self.packer) = (file, packer)
        buffer.reserveCapacity(Self.capacity + (64 << 10))
    }

    mutating func withBuffer<R>(_ body: (inout [UInt8]) throws -> R) throws -> R {
        let result = try body(&buffer)
        if buffer.count >= Self.capacity { try flush() }
        return result
    }

    mutating func appendLine(_ line: [UInt8]) throws {
        try withBuffer { $0 += line + [0x0a] }
    }

    /// Copies a file from an offset on.
    mutating func append(_ file: File, from start: Int = 0) throws {
        var offset = start
        while case let bytes = try file.bytes(offset..<offset + Self.capacity), !bytes.isEmpty {
            try withBuffer { $0 += bytes }
            offset += bytes.count
        }
    }

    mutating func flush() throws(UserError) { try flush(isLast: false) }

    /// Ends the output.
    mutating func finish() throws(UserError) { try flush(isLast: true) }

    private mutating func flush(isLast: Bool) throws(UserError) {
        let bytes = try UserError.of(file.path) { try packer?.pack(buffer, isLast: isLast) ?? buffer }
        try file.write(bytes, at: offset)
        offset += bytes.count
        buffer.removeAll(keepingCapacity: true)
    }
}

/// Reading of files that may be compressed, the only way to read a run's own files.
extension File {
    /// Returns the file, or an unnamed file of its decompressed content, which vanishes with the process. Nil if there
    /// is no such file.
    package static func textIfPresent(_ path: String, in system: FileSystem) throws -> File? {
        guard let file = try openIfPresent(path, .read, in: system) else { return nil }
        guard try file.info().kind == .regular, let packing = Packing(start: try file.bytes(0..<4)) else {
            return file
        }
        do {
            let (text, end) = try file.unpacked(packing)
            // Bytes after the packed data are damage here.
            guard try end == file.info().size else {
                throw SystemError("", "is damaged: other data follows the \(packing) data")
            }
            return text
        } catch let error as SystemError {
            throw UserError(.io, at: path, "", error)
        }
    }

    /// Unpacks the packed data that the file begins with.
    /// - Returns: the text, and where other bytes than zeros come after the packed ones, or else the file's size.
    /// - Throws: `SystemError`, or `UserError`.
    func unpacked(_ packing: Packing) throws -> (text: File, end: Int) {
        let text = try Self.scratch(for: path, system)
        text.path = path
        let unpacker = try Unpacker(packing)
        var (writer, position) = (BufferedWriter(text), 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = try buffer.withUnsafeMutableBytes { buffer in
                try unpacker.read(into: buffer) { packed in
                    let count = try read(into: packed, at: position)
                    position += count
                    return count
                }
            }
            if count == 0 { break }
            try writer.withBuffer { $0 += buffer[..<count] }
        }
        try writer.flush()
        return (text, unpacker.isAtRest ? position - unpacker.unreadCount : position)
    }

    /// Returns an unnamed file for content derived from another one.
    static func scratch(for path: String, _ system: FileSystem) throws -> File {
        // A read-only folder is no reason to fail.
        try (try? nameless(in: Paths.folder(of: path), system))
            ?? nameless(in: FileManager.default.temporaryDirectory.path, system)
    }

    static func nameless(in folder: String, _ system: FileSystem) throws -> File {
        if let file = try? open(folder, .nameless, in: system) { return file }
        // A kill may leave it with its name, empty and harmless.
        let path = "\(folder)/phibatch-scratch-\(UInt64.random(in: 0 ... .max)).tmp"
        let file = try open(path, .createNew(mode: 0o600), in: system)
        try file.remove()
        return file
    }
}

/// Reads pieces of a file, mostly in sequence, through a large buffer.
final class FilePieces {
    let file: File
    private var buffer: [UInt8] = []
    /// Range of the file in `buffer`.
    private var held = 0..<0
    private static let readSize = 1 << 16

    init(_ file: File) { self.file = file }

    /// - Returns: the result of `body` for these bytes; nil if the file is shorter.
    func with<R>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
        if !(held.lowerBound <= range.lowerBound && range.upperBound <= held.upperBound) {
            // Before allocating memory, as the range may be forged.
            if range.count > Self.readSize, try file.info().size < range.upperBound { return nil }
            let size = max(Self.readSize, range.count)
            if buffer.count != size { buffer = [UInt8](repeating: 0, count: size) }
            held = 0..<0
            let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: range.lowerBound) }
            held = range.lowerBound..<range.lowerBound + count
            guard range.upperBound <= held.upperBound else { return nil }
        }
        return try buffer.withUnsafeBytes { bytes in
            let start = range.lowerBound - held.lowerBound
            return try body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + range.count]))
        }
    }
}
