import OperatingSystem

/// A failed system call: its errno.
package typealias SystemError = Files.Failure

/// How a file is opened.
package enum FileAccess: Sendable, Equatable {
    /// An existing file or folder, for reading.
    case read
    /// As `read`, but waits for the writer of a named pipe, and for its bytes.
    case readStream
    /// As `read`, but never through a symbolic link: for files that only phibatch makes.
    case readOwn
    /// An existing file, for reading and writing. Never through a symbolic link.
    case readWrite
    /// For reading and writing, with these permissions less the user's umask. Only if there is nothing of that
    /// name, not even a symbolic link.
    case createNew(mode: UInt32 = 0o666)
    /// A new file without a name in this folder, for its owner alone, where the system has that.
    case nameless
}

/// What `stat` tells of a path or descriptor, as far as it matters here.
package struct FileInfo: Sendable, Equatable {
    /// `link` is a symbolic link.
    package enum Kind: Sendable { case regular, folder, link, other }
    package var kind: Kind
    package var size: Int
    package var device: UInt64
    package var inode: UInt64
    /// Permissions, with the bits for set-user-id, set-group-id and sticky.
    package var mode: UInt32 = 0o644
    package var user: UInt32 = 0
    package var group: UInt32 = 0
    /// How many names the file has.
    package var linkCount = 1

    func isSameFile(as other: FileInfo) -> Bool { device == other.device && inode == other.inode }
}

/// The system calls that the checkpoint is made of: the seam where tests put faults.
///
/// Each method is one bare call. Retrying after EINTR and going on after a short transfer happen
/// above, in `File` and `FileSystem.retrying`, so that they are tested too.
package protocol FileSystem: Sendable {
    func open(_ path: String, _ access: FileAccess) throws(SystemError) -> Int32
    /// Drops the lock too, if there is one.
    func close(_ descriptor: Int32)
    /// - Returns: the number of bytes read, 0 at the end of the file.
    func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int
    /// Reads from where a stream stands; a pipe has no offsets. Waits for bytes if there are none yet.
    /// - Returns: the number of bytes read, 0 at the end.
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int
    /// Where an open regular file stands.
    func position(_ descriptor: Int32) throws(SystemError) -> Int
    /// - Returns: the number of bytes written; may be less than asked for.
    func write(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int
    /// Writes to a stream that has no offset. A descriptor that would block is waited for.
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int
    /// Brings the file's bytes (and the size needed to read them) to the disk itself.
    func sync(_ descriptor: Int32) throws(SystemError)
    func truncate(_ descriptor: Int32, to size: Int) throws(SystemError)
    func rename(_ from: String, to: String) throws(SystemError)
    /// As `rename`, but fails with EEXIST if there is anything at `to`.
    func renameNew(_ from: String, to: String) throws(SystemError)
    func unlink(_ path: String) throws(SystemError)
    /// Gives a file a second name, which must be free.
    func link(_ path: String, to name: String) throws(SystemError)
    /// The names in a folder, in any order.
    func names(in folder: String) throws(SystemError) -> [String]
    /// Fails as a rename to `path`, which names a regular file, would for want of rights; changes nothing.
    func checkReplaceable(_ path: String) throws(SystemError)
    func setMode(_ descriptor: Int32, _ mode: UInt32) throws(SystemError)
    func setOwner(_ descriptor: Int32, user: UInt32, group: UInt32) throws(SystemError)
    /// Gives an open file the extended attributes and the access control list that a path has.
    /// - Returns: the names of those that can't be given.
    func copyAttributes(from path: String, to descriptor: Int32) throws(SystemError) -> [String]
    func info(_ path: String) throws(SystemError) -> FileInfo
    /// What stands at the path itself, if that is a symbolic link.
    func entry(_ path: String) throws(SystemError) -> FileInfo
    func info(_ descriptor: Int32) throws(SystemError) -> FileInfo
    /// What a symbolic link points to; nil if the path isn't one or isn't there.
    func linkTarget(_ path: String) throws(SystemError) -> String?
    /// Tries for a lock that the kernel drops with the process.
    /// - Returns: false if another holds it.
    func lock(_ descriptor: Int32, exclusive: Bool) throws(SystemError) -> Bool
}

extension FileSystem {
    /// Repeats a call for as long as a signal interrupts it.
    func retrying<T>(_ call: @autoclosure () throws(SystemError) -> T) throws(SystemError) -> T {
        while true {
            do {
                return try call()
            } catch {
                if error.code != ErrorCode.interrupted { throw error }
            }
        }
    }

    /// Says of which file a call failed, and at what.
    func attempt<T>(
        _ what: String, _ path: String, _ call: @autoclosure () throws(SystemError) -> T,
        kind: StoreError.Kind = .io
    ) throws(StoreError) -> T {
        do { return try retrying(try call()) } catch { throw StoreError(kind, path: path, what, error) }
    }

    /// The same; nil if there is no such file.
    @discardableResult
    private func ifPresent<T>(
        _ what: String, _ path: String, _ call: @autoclosure () throws(SystemError) -> T
    ) throws(StoreError) -> T? {
        do { return try attempt(what, path, try call()) } catch {
            if error.code == ErrorCode.notFound { return nil }
            throw error
        }
    }

    func exists(_ path: String) throws(StoreError) -> Bool { try infoIfPresent(path) != nil }

    func infoIfPresent(_ path: String) throws(StoreError) -> FileInfo? {
        try ifPresent("cannot be examined", path, try info(path))
    }

    /// What stands at the path itself; nil if there is nothing.
    func entryIfPresent(_ path: String) throws(StoreError) -> FileInfo? {
        do {
            return try retrying(try entry(path))
        } catch {
            if error.code == ErrorCode.notFound { return nil }
            let kind: StoreError.Kind = error.code == ErrorCode.nameTooLong ? .cannotCreate : .io
            throw StoreError(kind, path: path, "cannot be examined", error)
        }
    }

    func moveIntoPlace(_ from: String, to: String) throws(StoreError) {
        try attempt("cannot be put in place (rename)", to, try rename(from, to: to))
    }

    func removeIfPresent(_ path: String) throws(StoreError) {
        try ifPresent("cannot be removed", path, try unlink(path))
    }

    /// Makes renames and removals in a folder durable. Some file systems can't; that isn't an error.
    func syncFolder(_ path: String) throws(StoreError) {
        do {
            let descriptor = try retrying(try open(path, .read))
            defer { close(descriptor) }
            try retrying(try sync(descriptor))
        } catch {
            if ErrorCode.unsupported.contains(error.code) { return }
            throw StoreError(.io, path: path, "the folder cannot be synced", error)
        }
    }
}
