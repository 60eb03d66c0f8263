import FoundationShim

/// A regular file, open for reading.
package final class OpenFile: Sendable {
    package let path: String
    private let descriptor: Int32

    /// - Parameter descriptor: result of opening it with O_NONBLOCK, as a named pipe must not wait for a writer.
    /// - Throws: `SystemError`, also for a folder, a pipe or a device.
    init(path: String, descriptor: Int32) throws(SystemError) {
        guard descriptor >= 0 else { throw SystemError(path, "can't be opened", code: errno) }
        self.path = path
        self.descriptor = descriptor
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SystemError(path, "is not a regular file")
        }
    }

    deinit { close(descriptor) }

    /// - Parameter followsLinks: whether the path may be a symbolic link.
    /// - Throws: `SystemError`, also for a folder, a pipe or a device.
    package static func at(_ path: String, followsLinks: Bool = true) throws(SystemError) -> OpenFile {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
        return try OpenFile(path: path, descriptor: open(path.cPath, flags))
    }

    package func withDescriptor<Value>(_ body: (Int32) -> Value) -> Value { body(descriptor) }

    /// Whether it begins with these bytes.
    package func begins(with head: [UInt8]) -> Bool {
        var bytes = [UInt8](repeating: 0, count: head.count)
        let count = try? bytes.withUnsafeMutableBytes { try read(into: $0, at: 0) }
        return count == head.count && bytes == head
    }

    package func state() throws(SystemError) -> FileState {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw SystemError(path, "can't be examined", code: errno)
        }
        return FileState(status)
    }

    /// - Returns: the number of bytes read, less than asked for only at the end of the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
        var done = 0
        while done < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError(path, "can't be read", code: errno) }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Reads the file from its beginning.
    /// - Parameter body: returns whether to continue.
    /// - Returns: the number of bytes read.
    @discardableResult
    package func forEachPiece(_ body: (UnsafeRawBufferPointer) -> Bool) throws(SystemError) -> Int {
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

    /// Asks the system to read ahead.
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

    /// System clock, in nanoseconds since 1970.
    package static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }

    private static func nanoseconds(_ time: timespec) -> Int {
        Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
    }
}

/// Our own files, recognized by their beginning.
package enum OwnFile {
    /// Whether the file at `path` itself (not a link's target) is regular and begins with `head`.
    package static func begins(_ path: String, with head: [UInt8]) -> Bool {
        (try? OpenFile.at(path, followsLinks: false))?.begins(with: head) ?? false
    }

    /// Whether nothing exists at `path`, not even a broken link.
    package static func isAbsent(_ path: String) -> Bool {
        var status = stat()
        return lstat(path.cPath, &status) != 0 && errno == ENOENT
    }

    /// Writes a small file and puts it in place atomically.
    /// - Parameter draft: its name until then; must not exist.
    /// - Returns: false if that fails, with errno set and nothing left.
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

    /// Removes a file, never a folder; a missing one is no error.
    package static func remove(_ path: String) { unlink(path.cPath) }

    /// Makes all files and folders from now on private to the user.
    package static func closeNewFilesToOthers() { umask(0o077) }

    package static var processID: Int32 { getpid() }
}
