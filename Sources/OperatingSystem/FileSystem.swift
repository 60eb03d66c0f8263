import CZlib
import Errors
import FoundationShim

/// Mode of opening a file.
package enum FileAccess: Sendable, Equatable {
    /// An existing file or folder, for reading.
    case read
    /// Like `read`, but waits for the writer of a named pipe and for its bytes.
    case readStream
    /// Like `read`, but never through a symbolic link: for phibatch's own files.
    case readOwn
    /// An existing file, for reading and writing. Never through a symbolic link.
    case readWrite
    /// For reading and writing, with these permissions reduced by the user's umask. Fails if anything has that name,
    /// even a symbolic link.
    case createNew(mode: UInt32 = 0o666)
    /// A new unnamed file in this folder, private to its owner, if the system supports it.
    case nameless
}

/// System calls used by the store of results. Tests inject faults by a subclass.
///
/// Each method that a subclass may override is one bare call. Retries after EINTR and short transfers are handled in
/// `explaining` and `File`, so that they are tested too.
package class FileSystem: @unchecked Sendable {
    /// The real one.
    package static let real = FileSystem()
    /// Errors of a link: the file system has none, or not for this file.
    package static let noSecondName: Set<Int32> = [EPERM, EMLINK, ENOSYS, ENOTSUP, EOPNOTSUPP, EXDEV]
    /// Errors that mean that a file can't have this owner or these permissions.
    package static let refused: Set<Int32> = [EPERM, EINVAL, ENOTSUP, EOPNOTSUPP]

    init() {}

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
            #if os(Linux)
                // O_TMPFILE, a macro that Swift doesn't see.
                (flags, mode) = (O_RDWR | 0o20_000_000 | O_DIRECTORY, 0o600)
            #else
                throw SystemError(code: ENOTSUP)
            #endif
        }
        return try Self.check(FoundationShim.open(path.cPath, flags | O_CLOEXEC | O_NOCTTY, mode))
    }

    /// Also drops the lock, if there is one.
    package func close(_ descriptor: Int32) {
        // A starting child process also has the descriptor, and would keep its lock.
        unlock(descriptor)
        _ = FoundationShim.close(descriptor)
    }

    /// - Returns: the number of bytes read, 0 at the end of the file.
    package func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int {
        try Self.check(pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)))
    }

    /// Reads from the current position of a stream, as a pipe has no offsets. Waits for bytes if there are none yet.
    /// - Returns: the number of bytes read, 0 at the end.
    package func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError)
        -> Int
    {
        try Self.check(FoundationShim.read(descriptor, buffer.baseAddress, buffer.count))
    }

    /// Returns the current position of an open regular file.
    package func position(_ descriptor: Int32) throws(SystemError) -> Int {
        Int(try Self.check(lseek(descriptor, 0, SEEK_CUR)))
    }

    /// - Returns: the number of bytes written; may be less than asked for.
    package func write(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int {
        try Self.check(pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset)))
    }

    /// Writes the file's bytes (and the size needed to read them) to the disk itself.
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
        try Self.check(FoundationShim.rename(from.cPath, to.cPath))
    }

    /// Renames, but fails with EEXIST if anything exists at `to`.
    package func renameNew(_ from: String, to: String) throws(SystemError) {
        #if canImport(Darwin)
            if renamex_np(from.cPath, to.cPath, UInt32(RENAME_EXCL)) == 0 { return }
            guard errno == ENOTSUP || errno == EINVAL else { throw .last }
        #else
            if let call = Self.renameat2 {
                // RENAME_NOREPLACE
                if call(AT_FDCWD, from.cPath, AT_FDCWD, to.cPath, 1) == 0 { return }
                guard errno == ENOSYS || errno == EINVAL else { throw .last }
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

    package func unlink(_ path: String) throws(SystemError) {
        try Self.check(FoundationShim.unlink(path.cPath))
    }

    /// Gives a file a second name, which must be free.
    package func link(_ path: String, to name: String) throws(SystemError) {
        try Self.check(FoundationShim.link(path.cPath, name.cPath))
    }

    /// Returns the names in a folder, unordered.
    package func names(in folder: String) throws(SystemError) -> [String] { try Files.names(in: folder) }

    /// Fails like a rename to `path`, a regular file, without the needed rights; changes nothing.
    package func checkReplaceable(_ path: String) throws(SystemError) {
        let there = try entry(path)
        guard there.kind == .regular else { throw SystemError(code: EINVAL) }
        #if os(Linux)
            // If a file could be removed or replaced, rmdir reports that it is no folder; else it reports the reason
            // first (a sticky or read-only folder, an immutable file).
            if rmdir(path.cPath) < 0, errno != ENOTDIR { throw .last }
            if try isMountPoint(path) { throw SystemError(code: EBUSY) }
        #else
            let folder = try info(Paths.folder(of: path))
            if folder.mode & UInt32(S_ISVTX) != 0, geteuid() != 0, geteuid() != folder.user,
                geteuid() != there.user
            {
                throw SystemError(code: EPERM)
            }
            var status = stat()
            try Self.check(lstat(path.cPath, &status))
            if status.st_flags & UInt32(UF_IMMUTABLE | UF_APPEND | SF_IMMUTABLE | SF_APPEND) != 0 {
                throw SystemError(code: EPERM)
            }
        #endif
    }

    package func setMode(_ descriptor: Int32, _ mode: UInt32) throws(SystemError) {
        try Self.check(fchmod(descriptor, mode_t(truncatingIfNeeded: mode)))
    }

    package func setOwner(_ descriptor: Int32, user: UInt32, group: UInt32) throws(SystemError) {
        try Self.check(fchown(descriptor, user, group))
    }

    /// Copies the extended attributes and the access control list of a path to an open file.
    /// - Returns: the names of those that can't be copied.
    package func copyAttributes(from path: String, to descriptor: Int32) throws(SystemError) -> [String] {
        #if canImport(Darwin)
            let all = ["extended attributes and access control list"]
            guard let source = try? open(path, .readOwn) else { return all }
            defer { close(source) }
            return fcopyfile(source, descriptor, nil, copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR)) == 0
                ? [] : all
        #else
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
        #endif
    }

    package func info(_ path: String) throws(SystemError) -> FileInfo { try FileInfo(of: path) }
    /// Returns information on the path itself, even if it is a symbolic link.
    package func entry(_ path: String) throws(SystemError) -> FileInfo { try FileInfo(ofEntry: path) }
    package func info(_ descriptor: Int32) throws(SystemError) -> FileInfo { try FileInfo(of: descriptor) }

    /// Returns the target of a symbolic link; nil if the path isn't one or doesn't exist.
    package func linkTarget(_ path: String) throws(SystemError) -> String? { try Files.linkTarget(of: path) }

    /// Tries to take a lock that the kernel drops with the process.
    /// - Returns: false if another process holds it.
    package func lock(_ descriptor: Int32, exclusive: Bool) throws(SystemError) -> Bool {
        if flock(descriptor, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 { return true }
        if errno == EWOULDBLOCK { return false }
        throw .last
    }

    package func unlock(_ descriptor: Int32) { flock(descriptor, LOCK_UN) }

    @discardableResult
    private static func check<T: SignedInteger>(_ result: T) throws(SystemError) -> T {
        if result < 0 { throw .last }
        return result
    }
}

/// Calls with errors for people.
extension FileSystem {
    /// Returns the result of a call; nil if there is no such file.
    private func ifPresent<T>(
        _ what: String, _ path: String, _ call: @autoclosure () throws(SystemError) -> T
    ) throws(UserError) -> T? {
        do { return try explaining(.io, at: path, what, try call()) } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    package func exists(_ path: String) throws(UserError) -> Bool { try infoIfPresent(path) != nil }

    package func infoIfPresent(_ path: String) throws(UserError) -> FileInfo? {
        try ifPresent("can't be examined", path, try info(path))
    }

    /// Returns information on the path itself; nil if nothing exists there.
    package func entryIfPresent(_ path: String) throws(UserError) -> FileInfo? {
        do { return try ifPresent("can't be examined", path, try entry(path)) } catch {
            throw error.code == ENAMETOOLONG ? UserError(.cannotWrite, error) : error
        }
    }

    package func removeIfPresent(_ path: String) throws(UserError) {
        _ = try ifPresent("can't be removed", path, try unlink(path))
    }

    /// Makes renames and removals in a folder durable. Some file systems can't, which is no error.
    package func syncFolder(_ path: String) throws(UserError) {
        do {
            let descriptor = try retrying(try open(path, .read))
            defer { close(descriptor) }
            try retrying(try sync(descriptor))
        } catch {
            if [EINVAL, ENOTSUP, EOPNOTSUPP].contains(error.code) { return }
            throw UserError(.io, at: path, "the folder can't be synced", error)
        }
    }
}

extension FileSystem {
    #if os(Linux)
        /// Whether something is mounted on the file, as containers do with single files.
        private func isMountPoint(_ path: String) throws(SystemError) -> Bool {
            guard let file = try mountNumber(of: path),
                let folder = try mountNumber(of: Paths.folder(of: path))
            else { return false }
            return file != folder
        }

        private func mountNumber(of path: String) throws(SystemError) -> Substring? {
            let descriptor = try Self.check(
                FoundationShim.open(path.cPath, 0o10000000 | O_NOFOLLOW | O_CLOEXEC))
            defer { close(descriptor) }
            return Files.text(of: "/proc/self/fdinfo/\(descriptor)")?.split(at: "\n").first {
                $0.hasPrefix("mnt_id:")
            }
        }
    #endif

    #if !canImport(Darwin)
        /// An access control list is an attribute too.
        private static let accessList = "system.posix_acl_access"

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

        private typealias RenameAt2 =
            @Sendable @convention(c) (
                Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
            ) -> Int32

        /// Missing in older C libraries.
        private static let renameat2 = dlsym(nil, "renameat2").map { unsafeBitCast($0, to: RenameAt2.self) }
    #endif
}
