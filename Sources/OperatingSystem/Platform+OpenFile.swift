import FoundationShim

/// A regular file, open for reading.
package final class OpenFile: Sendable {
    package let path: String
    private let descriptor: Int32

    /// - Parameter descriptor: what opening it came to, with O_NONBLOCK: a named pipe must not wait for a writer.
    /// - Throws: `FileFault`, also for a folder, a pipe or a device.
    init(path: String, descriptor: Int32) throws(FileFault) {
        guard descriptor >= 0 else { throw FileFault(path, "can't be opened", errno) }
        self.path = path
        self.descriptor = descriptor
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw FileFault(path: path, reason: "is not a regular file")
        }
    }

    deinit { close(descriptor) }

    /// - Parameter followsLinks: whether the file may be named by a symbolic link.
    /// - Throws: `FileFault`, also for a folder, a pipe or a device.
    package static func at(_ path: String, followsLinks: Bool = true) throws(FileFault) -> OpenFile {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
        return try OpenFile(path: path, descriptor: open(path.cPath, flags))
    }

    package func withDescriptor<Value>(_ body: (Int32) -> Value) -> Value { body(descriptor) }

    /// Whether its first bytes are these.
    package func begins(with head: [UInt8]) -> Bool {
        var bytes = [UInt8](repeating: 0, count: head.count)
        let count = try? bytes.withUnsafeMutableBytes { try read(into: $0, at: 0) }
        return count == head.count && bytes == head
    }

    package func state() throws(FileFault) -> FileState {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileFault(path, "can't be examined", errno) }
        return FileState(status)
    }

    /// - Returns: the number of bytes read: fewer than asked for only at the end of the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileFault) -> Int {
        var done = 0
        while done < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileFault(path, "can't be read", errno) }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Reads the file from its beginning.
    /// - Parameter body: says whether to go on.
    /// - Returns: the number of bytes read.
    @discardableResult
    package func forEachPiece(_ body: (UnsafeRawBufferPointer) -> Bool) throws(FileFault) -> Int {
        expectReadsInOrder()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
        defer { buffer.deallocate() }
        var offset = 0
        while case let count = try read(into: buffer, at: offset), count > 0 {
            offset += count
            if !body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { break }
        }
        return offset
    }

    /// Has the system read ahead.
    package func expectReadsInOrder() {
        #if os(Linux)
            _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        #endif
    }
}

extension FileState {
    package init(_ status: stat) {
        #if canImport(Darwin)
            let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
            let (modified, changed) = (status.st_mtim, status.st_ctim)
        #endif
        self.init(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino),
            size: Int(status.st_size), modified: Self.nanoseconds(modified),
            changed: Self.nanoseconds(changed))
    }

    /// The system's clock, in nanoseconds since 1970.
    package static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }

    private static func nanoseconds(_ time: timespec) -> Int {
        Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
    }
}

extension FileFault {
    init(_ path: String, _ what: String, _ code: Int32) {
        self.init(
            path: path, reason: "\(what): \(String(cString: strerror(code)))",
            isMissing: code == ENOENT || code == ENOTDIR)
    }
}

/// Files that we write for ourselves, and know again by how they begin.
package enum OwnFile {
    /// Whether the file at `path` itself (not what a link points to) is a regular one that begins with `head`.
    package static func begins(_ path: String, with head: [UInt8]) -> Bool {
        (try? OpenFile.at(path, followsLinks: false))?.begins(with: head) ?? false
    }

    /// Whether there is nothing at `path`, not even a link that leads nowhere.
    package static func isAbsent(_ path: String) -> Bool {
        var status = stat()
        return lstat(path.cPath, &status) != 0 && errno == ENOENT
    }

    /// Writes a small file and puts it in place in one step.
    /// - Parameter draft: the name it has until then; there must be nothing of that name.
    /// - Returns: false if that fails, and errno says why; then nothing is left.
    package static func write(_ bytes: [UInt8], to path: String, draft: String, mode: Int = 0o666) -> Bool {
        let descriptor = open(draft.cPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { return false }
        let written = (try? Files.write(bytes, to: descriptor)) != nil
        let isWhole = close(descriptor) == 0 && written
        if isWhole, rename(draft.cPath, path.cPath) == 0 { return true }
        let failure = errno
        defer { errno = failure }
        unlink(draft.cPath)
        return false
    }

    /// Removes a file, never a folder; that it is not there is no fault.
    package static func remove(_ path: String) { unlink(path.cPath) }

    /// Has all files and folders that the process makes from now on be for its user only.
    package static func closeNewFilesToOthers() { umask(0o077) }

    package static var processID: Int32 { getpid() }
}
