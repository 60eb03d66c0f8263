import FoundationShim

/// A file written under another name, its draft, and put in place atomically when it is complete. The draft is locked as
/// long as this object lives, which distinguishes it from a killed process's file, and is removed with it.
package final class AtomicFile: Sendable {
    package let path: String
    private let draft: String
    private let descriptor: Int32

    /// - Parameter draft: its name until then; must not exist.
    package init(_ path: String, draft: String, mode: mode_t = 0o666) throws(SystemError) {
        let descriptor = open(draft.cPath, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        // Without locks in a file system, files of killed processes stay.
        guard descriptor >= 0, FileLock.tryLock(descriptor) else {
            throw SystemError(path, "can't be created", code: errno)
        }
        (self.path, self.draft, self.descriptor) = (path, draft, descriptor)
    }

    deinit {
        unlink(draft)
        close(descriptor)
    }

    package func resize(_ count: Int) throws(SystemError) {
        // Going beyond the limit (ulimit -f) would end the process.
        let fits = count <= Memory.limit(RLIMIT_FSIZE) ?? .max
        guard fits, ftruncate(descriptor, off_t(count)) == 0 else {
            throw SystemError(path, "can't be written", code: fits ? errno : EFBIG)
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let count = pwrite(
                descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw SystemError(path, "can't be written", code: count < 0 ? errno : EIO)
            }
            done += count
        }
    }

    package func write(_ bytes: [UInt8], at offset: Int = 0) throws(SystemError) {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try write(bytes, at: offset) }
        }.get()
    }

    /// Returns when everything is on the disk.
    package func sync() throws(SystemError) {
        guard fsync(descriptor) == 0 else { throw SystemError(path, "can't be written", code: errno) }
    }

    /// Puts the file in place, replacing an existing one.
    /// - Parameter isDurable: whether it and its name are on the disk on return.
    package func moveIntoPlace(isDurable: Bool = true) throws(SystemError) {
        if isDurable { try sync() }
        try Files.rename(draft, to: path)
        guard isDurable else { return }
        let folder = open(Paths.folder(of: path).cPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        // Some file systems can't, and it is in place.
        fsync(folder)
        close(folder)
    }

    /// Removes the draft.
    package func discard() { unlink(draft) }
}
