import FoundationShim

extension Platform {
    /// A file being written. It is locked as long as this object lives, which distinguishes it from a killed process's
    /// file.
    package final class NewFile: Sendable {
        private let descriptor: Int32

        /// - Throws: `Failure`, also if `path` exists already.
        package init(path: String, mode: mode_t = 0o666) throws(SystemError) {
            descriptor = open(path.cPath, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
            guard descriptor >= 0 else { throw SystemError.last }
            // On a file system without locks, files of killed processes stay.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
                let failure = SystemError.last
                close(descriptor)
                throw failure
            }
        }

        deinit { close(descriptor) }

        package func resize(_ count: Int) throws(SystemError) {
            // Exceeding the limit (ulimit -f) would kill the process.
            if Platform.limit(RLIMIT_FSIZE) ?? .max < count { throw SystemError(code: EFBIG) }
            guard ftruncate(descriptor, off_t(count)) == 0 else {
                throw SystemError.last
            }
        }

        package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) {
            var done = 0
            while done < bytes.count {
                let count = pwrite(
                    descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw SystemError(code: count < 0 ? errno : EIO) }
                done += count
            }
        }

        /// Returns when everything is on the disk.
        package func sync() throws(SystemError) {
            guard fsync(descriptor) == 0 else { throw SystemError.last }
        }
    }

    /// Whether nobody holds the lock of a `NewFile` at `path`.
    package static func isAbandoned(_ path: String) -> Bool {
        let descriptor = open(path.cPath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    /// Marks a file as changed now. A failure is ignored.
    package static func touch(_ path: String) { utimensat(AT_FDCWD, path.cPath, nil, 0) }

    /// Returns the absolute path without symbolic links; the path itself if nothing exists there.
    package static func canonicalPath(_ path: String) -> String {
        Files.canonicalPath(path) ?? path
    }
}
