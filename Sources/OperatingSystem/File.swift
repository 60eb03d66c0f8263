import Errors
import FoundationShim
import JSON

/// An open file with complete transfers, and errors that name the path. Closed with the last reference.
package final class File: @unchecked Sendable {
    /// Changes when the file is put in place, by the thread that does it.
    package private(set) var path: String
    package let system: FileSystem
    package let descriptor: Int32
    /// Whether it goes with the last reference.
    private var isDraft = false

    /// - Parameter descriptor: of an open file, which it then owns.
    init(path: String, descriptor: Int32, in system: FileSystem = .real) {
        (self.path, self.system, self.descriptor) = (path, system, descriptor)
    }

    deinit {
        if isDraft { try? remove() }
        system.close(descriptor)
    }

    // MARK: Opening

    package static func open(
        _ path: String, _ access: FileAccess, in system: FileSystem = .real
    ) throws(UserError) -> File {
        let (kind, what): (UserError.Kind, String) =
            switch access {
            case .read, .readStream, .readOwn: (.io, "can't be opened")
            case .readWrite: (.cannotWrite, "can't be opened for writing")
            case .createNew, .nameless: (.cannotWrite, "can't be created")
            }
        let descriptor = try explaining(kind, at: path, what, try system.open(path, access))
        return File(path: path, descriptor: descriptor, in: system)
    }

    /// Nil if there is no such file.
    package static func openIfPresent(
        _ path: String, _ access: FileAccess, in system: FileSystem = .real
    ) throws(UserError) -> File? {
        do { return try open(path, access, in: system) } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    /// Opens a regular file for reading.
    /// - Parameter followsLinks: whether the path may be a symbolic link.
    /// - Throws: `UserError`, also for a folder, a pipe or a device.
    package static func regular(_ path: String, followsLinks: Bool = true) throws(UserError) -> File {
        let file = try open(path, followsLinks ? .read : .readOwn)
        guard try file.info().kind == .regular else {
            throw UserError(.io, at: path, "is not a regular file.")
        }
        return file
    }

    /// Makes a file under another name than it will have. It is removed with its last reference, unless it is put in place
    /// or kept, and locked until then, which distinguishes it from what a killed process left.
    package static func draft(
        _ path: String, mode: UInt32 = 0o666, in system: FileSystem = .real
    ) throws(UserError) -> File {
        let file = try open(path, .createNew(mode: mode), in: system)
        file.isDraft = true
        guard try file.lock() else { throw UserError(.locked, at: path, "another process is writing it.") }
        return file
    }

    // MARK: Reading and writing

    package func info() throws(UserError) -> FileInfo {
        try explaining(.io, at: path, "can't be examined", try system.info(descriptor))
    }

    /// - Returns: the number of bytes read, less than asked for only at the end of the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(UserError) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let position = offset + done
            let count = try explaining(
                .io, at: path, "can't be read", try system.read(descriptor, into: rest, at: position))
            if count == 0 { break }
            done += count
        }
        return done
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(UserError) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let position = offset + done
            let count = try explaining(
                .io, at: path, "can't be written", try system.write(descriptor, rest, at: position))
            guard count > 0 else { throw UserError(.io, at: path, "can't be written: no progress.") }
            done += count
        }
    }

    package func write(_ bytes: [UInt8], at offset: Int = 0) throws(UserError) {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(UserError) in try write(bytes, at: offset) }
        }.get()
    }

    /// Returns the bytes of a range, fewer only at the end of the file.
    package func bytes(_ range: Range<Int>) throws(UserError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        let count = try bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(UserError) in try read(into: buffer, at: range.lowerBound) }
        }.get()
        return count == bytes.count ? bytes : Array(bytes.prefix(count))
    }

    /// Whether it begins with these bytes.
    package func begins(with head: [UInt8]) -> Bool { (try? bytes(0..<head.count)) == head }

    /// Reads the file in order.
    /// - Parameter body: returns whether to continue.
    /// - Returns: the end of what was read.
    @discardableResult
    package func forEachPiece(_ body: (UnsafeRawBufferPointer) -> Bool) throws(UserError) -> Int {
        #if os(Linux)
            _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        #endif
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
        defer { buffer.deallocate() }
        var offset = 0
        while case let count = try read(into: buffer, at: offset), count > 0 {
            offset += count
            if !body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { break }
        }
        return offset
    }

    package func fill(_ range: Range<Int>, with byte: UInt8) throws(UserError) {
        let bytes = [UInt8](repeating: byte, count: min(range.count, 1 << 16))
        for start in stride(from: range.lowerBound, to: range.upperBound, by: 1 << 16) {
            try write(Array(bytes.prefix(range.upperBound - start)), at: start)
        }
    }

    package func sync() throws(UserError) {
        try explaining(.io, at: path, "can't be synced to disk", try system.sync(descriptor))
    }

    package func resize(to size: Int) throws(UserError) {
        // Going beyond the limit (ulimit -f) would end the process.
        let fits = size <= Memory.limit(RLIMIT_FSIZE) ?? .max
        func resize() throws(SystemError) {
            guard fits else { throw SystemError(code: EFBIG) }
            try system.truncate(descriptor, to: size)
        }
        try explaining(.io, at: path, "can't be written", try resize())
    }

    package func setMode(_ mode: UInt32) throws(UserError) {
        try explaining(
            .io, at: path, "can't be given its permissions", try system.setMode(descriptor, mode))
    }

    // MARK: Locks, which end with the process

    /// - Returns: false if another process holds the lock; nil if the file system has no locks.
    package func tryLock(exclusive: Bool) throws(UserError) -> Bool? {
        do {
            return try explaining(
                .io, at: path, "can't be locked", try system.lock(descriptor, exclusive: exclusive))
        } catch {
            if let code = error.code, [ENOSYS, ENOTSUP, EOPNOTSUPP, ENOLCK].contains(code) { return nil }
            throw error
        }
    }

    /// - Returns: false if another process holds the lock.
    package func lock() throws(UserError) -> Bool { try tryLock(exclusive: true) ?? true }

    // MARK: Names

    /// Whether `path` still names this file.
    package func isInPlace() throws(UserError) -> Bool {
        guard let there = try system.entryIfPresent(path) else { return false }
        return there.isSameFile(as: try info())
    }

    /// Renames the file to a name that must be free.
    package func moveNew(to target: String) throws(UserError) {
        do {
            try explaining(
                .io, at: target, "can't be put in place (rename)", try system.renameNew(path, to: target))
        } catch {
            throw error.code == EEXIST ? Self.appeared(target) : error
        }
        (path, isDraft) = (target, false)
    }

    /// Renames the file, replacing `earlier`; nil if nothing may exist there.
    package func replace(_ target: String, _ earlier: FileInfo?) throws(UserError) {
        guard let earlier, let there = try system.entryIfPresent(target) else {
            return try moveNew(to: target)
        }
        guard there.isSameFile(as: earlier) else { throw Self.appeared(target) }
        try move(to: target, isDurable: false)
    }

    /// Renames the file, replacing whatever is there.
    /// - Parameter isDurable: whether it and its name are on the disk on return.
    package func move(to target: String, isDurable: Bool = true) throws(UserError) {
        if isDurable { try sync() }
        try explaining(.io, at: target, "can't be put in place (rename)", try system.rename(path, to: target))
        (path, isDraft) = (target, false)
        // Some file systems can't, and it is in place.
        if isDurable { try? system.syncFolder(Paths.folder(of: target)) }
    }

    /// Something has come to stand where only we put files.
    private static func appeared(_ path: String) -> UserError {
        UserError(
            .io, at: path,
            "was put there by another program while the run was going on, and is left as it is. Move it away "
                + "and run the same command again", SystemError(code: EEXIST))
    }

    /// Removes the file's name, if it still is this file's.
    package func remove() throws(UserError) {
        isDraft = false
        if try isInPlace() { try system.removeIfPresent(path) }
    }

    /// Makes a draft stay where it is.
    package func keep() { isDraft = false }
}

/// Collects bytes and writes them sequentially to a file.
package struct BufferedWriter {
    private let file: File
    private let packer: Packer?
    private var buffer: [UInt8] = []
    private var offset = 0
    private static let capacity = 1 << 20

    /// - Parameter packer: compresses the bytes; `finish` must end it.
    package init(_ file: File, packer: Packer? = nil) {
        (self.file, self.packer) = (file, packer)
        buffer.reserveCapacity(Self.capacity + (64 << 10))
    }

    package mutating func withBuffer(_ body: (inout [UInt8]) throws -> Void) throws {
        try body(&buffer)
        if buffer.count >= Self.capacity { try flush() }
    }

    package mutating func appendLine(_ line: [UInt8]) throws { try withBuffer { $0 += line + [0x0a] } }

    package mutating func flush() throws(UserError) { try flush(isLast: false) }

    /// Ends the output.
    package mutating func finish() throws(UserError) { try flush(isLast: true) }

    private mutating func flush(isLast: Bool) throws(UserError) {
        let bytes = try UserError.of(file.path) { try packer?.pack(buffer, isLast: isLast) ?? buffer }
        try file.write(bytes, at: offset)
        offset += bytes.count
        buffer.removeAll(keepingCapacity: true)
    }
}

/// Files that may be compressed, and unnamed ones.
extension File {
    /// Returns the file, or an unnamed file of its decompressed content, which vanishes with the process. Nil if there
    /// is no such file.
    package static func textIfPresent(_ path: String) throws(UserError) -> File? {
        guard let file = try openIfPresent(path, .read) else { return nil }
        guard try file.info().kind == .regular, let packing = Packing(start: try file.bytes(0..<4)) else {
            return file
        }
        return try UserError.of(path) {
            let (text, end) = try file.unpacked(packing)
            // Bytes after the packed data are damage here.
            guard try end == file.info().size else {
                throw SystemError("", "is damaged: other data follows the \(packing) data")
            }
            return text
        }
    }

    /// Unpacks the packed data that the file begins with.
    /// - Returns: the text, and where other bytes than zeros come after the packed ones, or else the file's size.
    /// - Throws: `SystemError`, or `UserError`.
    package func unpacked(_ packing: Packing) throws -> (text: File, end: Int) {
        // A read-only folder is no reason to fail.
        let text =
            try (try? Self.nameless(in: Paths.folder(of: path), system))
            ?? Self.nameless(in: FileManager.default.temporaryDirectory.path, system)
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

    /// Makes a file without a name, which vanishes with the process.
    package static func nameless(in folder: String, _ system: FileSystem) throws(UserError) -> File {
        if let file = try? open(folder, .nameless, in: system) { return file }
        // A kill may leave it with its name, empty and harmless.
        let path = "\(folder)/phibatch-scratch-\(UInt64.random(in: 0 ... .max)).tmp"
        let file = try open(path, .createNew(mode: 0o600), in: system)
        try file.remove()
        return file
    }
}

/// Reading line by line in large pieces; memory is bounded by the longest line.
extension File {
    /// One line, without its line feed. Its bytes are valid only during the call.
    package struct Line {
        package var offset: Int
        package var bytes: UnsafeRawBufferPointer
        /// False if it is too long; `bytes` then has only its end.
        package var isWhole = true
    }

    /// - Parameters:
    ///   - maximumLength: longer lines are skipped and reported.
    ///   - pieceSize: bytes that are read at a time, at first.
    ///   - body: returns false to stop.
    /// - Returns: the end of the last line read, after its line feed.
    @discardableResult package func forEachLine(
        from start: Int = 0, maximumLength: Int = ChecksummedLine.maximumLength, pieceSize: Int = 1 << 20,
        _ body: (Line) throws -> Bool
    ) throws -> Int {
        var (base, size, end) = (start, pieceSize, start)
        var overlong: Int?  // start of a line that is being skipped
        while true {
            let piece = try bytes(base..<base + size)
            var lineStart = 0
            let goesOn = try piece.withUnsafeBytes { bytes in
                while let hit = UnsafeRawBufferPointer(rebasing: bytes[lineStart...]).offset(of: 0x0a) {
                    let line = Line(
                        offset: overlong ?? base + lineStart,
                        bytes: UnsafeRawBufferPointer(rebasing: bytes[lineStart..<lineStart + hit]),
                        isWhole: overlong == nil)
                    (overlong, lineStart) = (nil, lineStart + hit + 1)
                    end = base + lineStart
                    if try !body(line) { return false }
                }
                return true
            }
            if !goesOn || piece.count < size { return end }
            if lineStart > 0 {
                // The rest is read again with what follows it.
                (base, size) = (base + lineStart, pieceSize)
            } else if overlong != nil || size >= maximumLength {
                overlong = overlong ?? base
                (base, size) = (base + size, pieceSize)
            } else {
                size *= 2
            }
        }
    }
}

/// Reads pieces of a file, mostly in sequence, through a large buffer.
package final class FilePieces {
    package let file: File
    private var buffer: [UInt8] = []
    /// Range of the file in `buffer`.
    private var held = 0..<0
    private static let readSize = 1 << 16

    package init(_ file: File) { self.file = file }

    /// - Returns: the result of `body` for these bytes; nil if the file is shorter.
    package func with<R>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
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
