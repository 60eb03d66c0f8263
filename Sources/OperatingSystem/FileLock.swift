import FoundationShim

/// A lock of this process on a file, like that of Python's filelock: `flock`, which ends with the process.
package final class FileLock: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Takes the lock of a file, created as needed.
    /// - Returns: nil while another process holds it; never on a file system without locks.
    package static func take(_ name: String, in folder: OpenFolder) throws(SystemError) -> FileLock? {
        // Others of the group may share the folder.
        let descriptor = try folder.file(name, mode: 0o664)
        if tryLock(descriptor) { return FileLock(descriptor: descriptor) }
        close(descriptor)
        return nil
    }

    /// Takes the lock of an open file.
    /// - Returns: false while another holds it.
    static func tryLock(_ descriptor: Int32) -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK && errno != EINTR
    }

    /// Whether nobody holds the lock of a file; nil if it can't be opened.
    package static func isFree(_ path: String) -> Bool? {
        let descriptor = open(path.cPath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }
}
