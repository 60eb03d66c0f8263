import OperatingSystem

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

/// The part of `stat` that is needed here.
package struct FileInfo: Sendable, Equatable {
    /// `link` is a symbolic link.
    package enum FileType: Sendable { case regular, folder, link, other }
    package var kind: FileType
    package var size: Int
    package var device: UInt64
    package var inode: UInt64
    /// Permissions, with the set-user-id, set-group-id and sticky bits.
    package var mode: UInt32 = 0o644
    package var user: UInt32 = 0
    package var group: UInt32 = 0
    /// Number of the file's names.
    package var linkCount = 1

    func isSameFile(as other: FileInfo) -> Bool { device == other.device && inode == other.inode }
}

/// System calls used by the store of results, as a seam for fault injection in tests.
///
/// Each method is one bare call. Retries after EINTR and short transfers are handled in `File` and
/// `FileSystem.retrying`, so that they are tested too.
package protocol FileSystem: Sendable {
    func open(_ path: String, _ access: FileAccess) throws(SystemError) -> Int32
    /// Also drops the lock, if there is one.
    func close(_ descriptor: Int32)
    /// - Returns: the number of bytes read, 0 at the end of the file.
    func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int
    /// Reads from the current position of a stream, as a pipe has no offsets. Waits for bytes if there are none yet.
    /// - Returns: the number of bytes read, 0 at the end.
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int
    /// Returns the current position of an open regular file.
    func position(_ descriptor: Int32) throws(SystemError) -> Int
    /// - Returns: the number of bytes written; may be less than asked for.
    func write(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int
    /// Writes to a stream without offsets. Waits for a descriptor that would block.
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int
    /// Writes the file's bytes (and the size needed to read them) to the disk itself.
    func sync(_ descriptor: Int32) throws(SystemError)
    func truncate(_ descriptor: Int32, to size: Int) throws(SystemError)
    func rename(_ from: String, to: String) throws(SystemError)
    /// Renames, but fails with EEXIST if anything exists at `to`.
    func renameNew(_ from: String, to: String) throws(SystemError)
    func unlink(_ path: String) throws(SystemError)
    /// Gives a file a second name, which must be free.
    func link(_ path: String, to name: String) throws(SystemError)
    /// Returns the names in a folder, unordered.
    func names(in folder: String) throws(SystemError) -> [String]
    /// Fails like a rename to `path`, a regular file, without the needed rights; changes nothing.
    func checkReplaceable(_ path: String) throws(SystemError)
    func setMode(_ descriptor: Int32, _ mode: UInt32) throws(SystemError)
    func setOwner(_ descriptor: Int32, user: UInt32, group: UInt32) throws(SystemError)
    /// Copies the extended attributes and the access control list of a path to an open file.
    /// - Returns: the names of those that can't be copied.
    func copyAttributes(from path: String, to descriptor: Int32) throws(SystemError) -> [String]
    func info(_ path: String) throws(SystemError) -> FileInfo
    /// Returns information on the path itself, even if it is a symbolic link.
    func entry(_ path: String) throws(SystemError) -> FileInfo
    func info(_ descriptor: Int32) throws(SystemError) -> FileInfo
    /// Returns the target of a symbolic link; nil if the path isn't one or doesn't exist.
    func linkTarget(_ path: String) throws(SystemError) -> String?
    /// Tries to take a lock that the kernel drops with the process.
    /// - Returns: false if another process holds it.
    func lock(_ descriptor: Int32, exclusive: Bool) throws(SystemError) -> Bool
    func unlock(_ descriptor: Int32)
}

extension FileSystem {
    /// Repeats a call as long as signals interrupt it.
    func retrying<T>(_ call: @autoclosure () throws(SystemError) -> T) throws(SystemError) -> T {
        while true {
            do {
                return try call()
            } catch {
                if error.code != ErrorCode.interrupted { throw error }
            }
        }
    }

    /// Adds the file and the action to the error of a failed call.
    func attempt<T>(
        _ what: String, _ path: String, _ call: @autoclosure () throws(SystemError) -> T,
        kind: UserError.Kind = .io
    ) throws(UserError) -> T {
        do { return try retrying(try call()) } catch { throw UserError(kind, at: path, what, error) }
    }

    /// Does the same; nil if there is no such file.
    @discardableResult
    private func ifPresent<T>(
        _ what: String, _ path: String, _ call: @autoclosure () throws(SystemError) -> T
    ) throws(UserError) -> T? {
        do { return try attempt(what, path, try call()) } catch {
            if error.code == ErrorCode.notFound { return nil }
            throw error
        }
    }

    func exists(_ path: String) throws(UserError) -> Bool { try infoIfPresent(path) != nil }

    func infoIfPresent(_ path: String) throws(UserError) -> FileInfo? {
        try ifPresent("cannot be examined", path, try info(path))
    }

    /// Returns information on the path itself; nil if nothing exists there.
    func entryIfPresent(_ path: String) throws(UserError) -> FileInfo? {
        do {
            return try retrying(try entry(path))
        } catch {
            if error.code == ErrorCode.notFound { return nil }
            let kind: UserError.Kind = error.code == ErrorCode.nameTooLong ? .cannotWrite : .io
            throw UserError(kind, at: path, "cannot be examined", error)
        }
    }

    func moveIntoPlace(_ from: String, to: String) throws(UserError) {
        try attempt("cannot be put in place (rename)", to, try rename(from, to: to))
    }

    func removeIfPresent(_ path: String) throws(UserError) {
        try ifPresent("cannot be removed", path, try unlink(path))
    }

    /// Makes renames and removals in a folder durable. Some file systems can't, which is no error.
    func syncFolder(_ path: String) throws(UserError) {
        do {
            let descriptor = try retrying(try open(path, .read))
            defer { close(descriptor) }
            try retrying(try sync(descriptor))
        } catch {
            if ErrorCode.unsupported.contains(error.code) { return }
            throw UserError(.io, at: path, "the folder cannot be synced", error)
        }
    }
}
