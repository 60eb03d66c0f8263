import Essentials
import OperatingSystem

/// What it takes to put a file in the place of another.
extension POSIXFileSystem {
    package func setMode(_ descriptor: Int32, _ mode: UInt32) throws(SystemError) {
        try Self.check(fchmod(descriptor, mode_t(truncatingIfNeeded: mode)))
    }

    package func setOwner(_ descriptor: Int32, user: UInt32, group: UInt32) throws(SystemError) {
        try Self.check(fchown(descriptor, user, group))
    }

    package func renameNew(_ from: String, to: String) throws(SystemError) {
        #if canImport(Darwin)
            if renamex_np(from.cPath, to.cPath, UInt32(RENAME_EXCL)) == 0 { return }
            guard errno == ENOTSUP || errno == EINVAL else { throw SystemError(code: errno) }
        #else
            if let call = Self.renameat2 {
                // RENAME_NOREPLACE
                if call(AT_FDCWD, from.cPath, AT_FDCWD, to.cPath, 1) == 0 { return }
                guard errno == ENOSYS || errno == EINVAL else { throw SystemError(code: errno) }
            }
        #endif
        // A file system that can't (NFS, for one) gets a look before. The runs of an output keep each other out
        // by its lock; only a stranger could come between.
        do {
            _ = try entry(to)
        } catch {
            guard error.code == ENOENT else { throw error }
            return try rename(from, to: to)
        }
        throw SystemError(code: EEXIST)
    }

    package func checkReplaceable(_ path: String) throws(SystemError) {
        let there = try entry(path)
        guard there.kind == .regular else { throw SystemError(code: EINVAL) }
        #if os(Linux)
            // If a file could be removed or replaced, the kernel says that it is no folder; else it names
            // the reason first (a sticky or read-only folder, an immutable file).
            if rmdir(path.cPath) < 0, errno != ENOTDIR { throw SystemError(code: errno) }
            if try isMountPoint(path) { throw SystemError(code: EBUSY) }
        #else
            let folder = try info(Paths.folder(of: path))
            if folder.mode & UInt32(S_ISVTX) != 0, geteuid() != 0, geteuid() != folder.user,
                geteuid() != there.user
            {
                throw SystemError(code: EPERM)
            }
            #if canImport(Darwin)
                var status = stat()
                try Self.check(lstat(path.cPath, &status))
                if status.st_flags & UInt32(UF_IMMUTABLE | UF_APPEND | SF_IMMUTABLE | SF_APPEND) != 0 {
                    throw SystemError(code: EPERM)
                }
            #endif
        #endif
    }

    #if os(Linux)
        /// Whether something is mounted on the file, as containers do with single files.
        private func isMountPoint(_ path: String) throws(SystemError) -> Bool {
            guard let file = try mountNumber(of: path),
                let folder = try mountNumber(of: Paths.folder(of: path))
            else { return false }
            return file != folder
        }

        private func mountNumber(of path: String) throws(SystemError) -> Substring? {
            let descriptor = try Self.check(openPath(path))
            defer { close(descriptor) }
            let text = (try? Files.contents(of: "/proc/self/fdinfo/\(descriptor)")).map {
                String(decoding: $0, as: UTF8.self)
            }
            return text?.split(separator: "\n").first { $0.hasPrefix("mnt_id:") }
        }
    #endif
}

#if os(Linux)
    // The type's method has the call's own name and hides it. O_PATH needs no right to read.
    private func openPath(_ path: String) -> Int32 { open(path.cPath, 0o10000000 | O_NOFOLLOW | O_CLOEXEC) }
#endif
