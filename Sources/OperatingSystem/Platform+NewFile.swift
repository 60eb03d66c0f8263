import FoundationShim

extension Platform {
    /// A file that is being made. It is locked for as long as this object lives, so that others can tell
    /// it from what a killed process left.
    package final class NewFile: Sendable {
        private let descriptor: Int32

        /// - Throws: `Failure`, also if there is something at `path` already.
        package init(path: String, mode: mode_t = 0o666) throws(Failure) {
            descriptor = open(path.cPath, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
            guard descriptor >= 0 else { throw Failure(call: "open", code: errno) }
            // Where a file system has no locks, what is left of a killed process stays.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
                let failure = Failure(call: "flock", code: errno)
                close(descriptor)
                throw failure
            }
        }

        deinit { close(descriptor) }

        package func resize(_ count: Int) throws(Failure) {
            // Going beyond the limit (ulimit -f) would end the process.
            if Platform.limit(RLIMIT_FSIZE) ?? .max < count { throw Failure(call: "ftruncate", code: EFBIG) }
            guard ftruncate(descriptor, off_t(count)) == 0 else {
                throw Failure(call: "ftruncate", code: errno)
            }
        }

        package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Failure) {
            var done = 0
            while done < bytes.count {
                let count = pwrite(
                    descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Failure(call: "write", code: count < 0 ? errno : EIO) }
                done += count
            }
        }

        /// Returns when the disk has it all.
        package func sync() throws(Failure) {
            guard fsync(descriptor) == 0 else { throw Failure(call: "fsync", code: errno) }
        }
    }

    /// Whether nobody holds the lock of a `NewFile` at `path` any more.
    package static func isAbandoned(_ path: String) -> Bool {
        let descriptor = open(path.cPath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    /// Marks a file as changed now. A refusal is no fault.
    package static func touch(_ path: String) { utimensat(AT_FDCWD, path.cPath, nil, 0) }

    /// The absolute path without symbolic links; the path itself if there is nothing there.
    package static func canonicalPath(_ path: String) -> String {
        Files.canonicalPath(path) ?? path
    }
}
