import CZlib
import FoundationShim
import OperatingSystem

// Only files of this name depend on the C library.

enum ErrorCode {
    static let interrupted = EINTR
    static let notFound = ENOENT
    static let exists = EEXIST
    #if os(Linux)
        /// O_TMPFILE, a macro that Swift doesn't see.
        static let namelessFlag: Int32? = 0o20_000_000 | O_DIRECTORY
    #else
        static let namelessFlag: Int32? = nil
    #endif
    /// Hard links are not possible: the file system has none, or not for this file.
    static let noSecondName: Set<Int32> = [EPERM, EMLINK, ENOSYS, ENOTSUP, EOPNOTSUPP, EXDEV]
    static let nameTooLong = ENAMETOOLONG
    static let notPermitted = EPERM
    static let busy = EBUSY
    /// The file can't have an owner or permissions.
    static let refused: Set<Int32> = [EPERM, EINVAL, ENOTSUP, EOPNOTSUPP]
    static let brokenPipe = EPIPE
    /// The file system has no locks.
    static let noLocks: Set<Int32> = [ENOSYS, ENOTSUP, EOPNOTSUPP, ENOLCK]
    static let unsupported: Set<Int32> = [EINVAL, ENOTSUP, EOPNOTSUPP]
}

/// The real file system.
package struct POSIXFileSystem: FileSystem {
    package init() {}

    package func open(_ path: String, _ access: FileAccess) throws(SystemError) -> Int32 {
        let flags: Int32
        var mode: mode_t = 0
        switch access {
        case .read: flags = O_RDONLY | O_NONBLOCK
        case .readStream: flags = O_RDONLY
        // O_NONBLOCK, as a named pipe must not be waited for.
        case .readOwn: flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW
        case .readWrite: flags = O_RDWR | O_NONBLOCK | O_NOFOLLOW
        case .createNew(let bits):
            flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
            mode = mode_t(truncatingIfNeeded: bits)
        case .nameless:
            guard let nameless = ErrorCode.namelessFlag else { throw SystemError(code: ENOTSUP) }
            (flags, mode) = (O_RDWR | nameless, 0o600)
        }
        return try Self.check(systemOpen(path, flags | O_CLOEXEC | O_NOCTTY, mode))
    }

    package func close(_ descriptor: Int32) {
        // A starting child process also has the descriptor, and would keep its lock.
        unlock(descriptor)
        _ = systemClose(descriptor)
    }

    package func unlock(_ descriptor: Int32) { flock(descriptor, LOCK_UN) }

    package func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int {
        try Self.check(pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)))
    }

    package func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        try Self.check(systemRead(descriptor, buffer.baseAddress, buffer.count))
    }

    package func position(_ descriptor: Int32) throws(SystemError) -> Int {
        Int(try Self.check(lseek(descriptor, 0, SEEK_CUR)))
    }

    package func write(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int {
        try Self.check(pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset)))
    }

    package func write(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer
    ) throws(SystemError) -> Int {
        while true {
            let written = systemWrite(descriptor, bytes.baseAddress, bytes.count)
            if written >= 0 { return written }
            guard errno == EAGAIN || errno == EWOULDBLOCK else { throw SystemError(code: errno) }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = try Self.check(poll(&waiting, 1, -1))
        }
    }

    package func sync(_ descriptor: Int32) throws(SystemError) {
        #if canImport(Darwin)
            // fsync stops at the drive's cache here; it has to do if F_FULLFSYNC isn't supported.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
            try Self.check(fsync(descriptor))
        #else
            // fdatasync includes a changed size; it syncs folders like fsync.
            try Self.check(fdatasync(descriptor))
        #endif
    }

    package func truncate(_ descriptor: Int32, to size: Int) throws(SystemError) {
        try Self.check(ftruncate(descriptor, off_t(size)))
    }

    package func rename(_ from: String, to: String) throws(SystemError) {
        try Self.check(systemRename(from, to))
    }

    package func unlink(_ path: String) throws(SystemError) {
        try Self.check(systemUnlink(path))
    }

    package func link(_ path: String, to name: String) throws(SystemError) {
        try Self.check(systemLink(path, name))
    }

    package func names(in folder: String) throws(SystemError) -> [String] { try Files.names(in: folder) }

    package func info(_ path: String) throws(SystemError) -> FileInfo {
        try FileInfo { stat(path.cPath, &$0) }
    }

    package func info(_ descriptor: Int32) throws(SystemError) -> FileInfo {
        try FileInfo { fstat(descriptor, &$0) }
    }

    package func entry(_ path: String) throws(SystemError) -> FileInfo {
        try FileInfo { lstat(path.cPath, &$0) }
    }

    package func linkTarget(_ path: String) throws(SystemError) -> String? {
        try Files.linkTarget(of: path)
    }

    package func lock(_ descriptor: Int32, exclusive: Bool) throws(SystemError) -> Bool {
        if flock(descriptor, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 { return true }
        if errno == EWOULDBLOCK { return false }
        throw SystemError(code: errno)
    }

    @discardableResult
    static func check<T: SignedInteger>(_ result: T) throws(SystemError) -> T {
        if result < 0 { throw SystemError(code: errno) }
        return result
    }
}

extension FileInfo {
    fileprivate init(_ call: (inout stat) -> Int32) throws(SystemError) {
        var status = stat()
        try POSIXFileSystem.check(call(&status))
        let kind: FileType =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .other
            }
        self.init(
            kind: kind, size: Int(status.st_size), device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino), mode: UInt32(status.st_mode) & 0o7777,
            user: status.st_uid, group: status.st_gid, linkCount: Int(status.st_nlink))
    }
}

// The methods above have the functions' names and hide them.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    open(path.cPath, flags, mode)
}
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
private func systemRename(_ from: String, _ to: String) -> Int32 { rename(from.cPath, to.cPath) }
private func systemUnlink(_ path: String) -> Int32 { unlink(path.cPath) }
private func systemLink(_ path: String, _ name: String) -> Int32 { link(path.cPath, name.cPath) }

extension POSIXFileSystem {
    /// Calls `body`, a write, so that a closed pipe gives the error EPIPE and never the signal SIGPIPE: it is blocked
    /// for this thread, and consumed if the write has raised it.
    static func withoutPipeSignal<Value>(
        _ body: @autoclosure () throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        var (pipe, before, pending) = (sigset_t(), sigset_t(), sigset_t())
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        sigpending(&pending)
        // A pending one is not ours to consume.
        let wasPending = sigismember(&pending, SIGPIPE) == 1
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        do { return try body() } catch {
            sigpending(&pending)
            if error.code == EPIPE, !wasPending, sigismember(&pending, SIGPIPE) == 1 {
                var taken: Int32 = 0
                sigwait(&pipe, &taken)
            }
            throw error
        }
    }
}

/// Operations to replace a file by another.
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
        // A file system without it (NFS, for one) is checked before. Runs exclude each other by the output's lock; only
        // a foreign program could come between.
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
            // If a file could be removed or replaced, rmdir reports that it is no folder; else it reports the reason
            // first (a sticky or read-only folder, an immutable file).
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
            return SystemFile.text("/proc/self/fdinfo/\(descriptor)")?.split(at: "\n").first {
                $0.hasPrefix("mnt_id:")
            }
        }
    #endif
}

#if os(Linux)
    // The type's method has the function's name and hides it. O_PATH needs no right to read.
    private func openPath(_ path: String) -> Int32 { open(path.cPath, 0o10000000 | O_NOFOLLOW | O_CLOEXEC) }
#endif

extension POSIXFileSystem {
    #if canImport(Darwin)
        package func copyAttributes(
            from path: String, to descriptor: Int32
        ) throws(SystemError) -> [String] {
            let all = ["extended attributes and access control list"]
            guard let source = try? open(path, .readOwn) else { return all }
            defer { close(source) }
            return fcopyfile(source, descriptor, nil, copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR)) == 0
                ? [] : all
        }
    #else
        /// An access control list is an attribute too.
        private static let accessList = "system.posix_acl_access"

        package func copyAttributes(
            from path: String, to descriptor: Int32
        ) throws(SystemError) -> [String] {
            let source = path.cPath
            let names = Self.list { llistxattr(source, $0, $1) }
            var lost: [String] = []
            for name in names {
                let cName = name.cPath
                guard let value = Self.bytes(asking: { lgetxattr(source, cName, $0, $1) }) else {
                    lost.append(name)
                    continue
                }
                if fsetxattr(descriptor, cName, value, value.count, 0) == 0 { continue }
                // An attribute set by the system (a security label) is equal already.
                if Self.bytes(asking: { fgetxattr(descriptor, cName, $0, $1) }) != value {
                    lost.append(name)
                }
            }
            // A new file inherits its folder's list.
            if !names.contains(Self.accessList),
                Self.list({ flistxattr(descriptor, $0, $1) }).contains(Self.accessList),
                fremovexattr(descriptor, Self.accessList.cPath) != 0
            {
                lost.append(Self.accessList)
            }
            return lost
        }

        private static func list(_ call: (UnsafeMutablePointer<CChar>?, Int) -> Int) -> [String] {
            let names = bytes { call($0?.assumingMemoryBound(to: CChar.self), $1) }
            return (names ?? []).split(separator: 0).map { String(pathBytes: $0) }
        }

        /// Returns the value of a call that first returns the size; nil if it fails.
        private static func bytes(asking call: (UnsafeMutableRawPointer?, Int) -> Int) -> [UInt8]? {
            let size = call(nil, 0)
            guard size > 0 else { return size == 0 ? [] : nil }
            var bytes = [UInt8](repeating: 0, count: size)
            let count = bytes.withUnsafeMutableBytes { call($0.baseAddress, $0.count) }
            return count < 0 ? nil : Array(bytes.prefix(count))
        }

        typealias RenameAt2 =
            @Sendable @convention(c) (
                Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
            ) -> Int32

        /// Missing in older C libraries.
        static let renameat2 = dlsym(nil, "renameat2").map { unsafeBitCast($0, to: RenameAt2.self) }
    #endif
}
