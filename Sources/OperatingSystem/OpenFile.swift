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
        guard (try? FileInfo(of: descriptor))?.kind == .regular else {
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

    package func info() throws(SystemError) -> FileInfo {
        do { return try FileInfo(of: descriptor) } catch {
            throw SystemError(path, "can't be examined", code: error.code)
        }
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
