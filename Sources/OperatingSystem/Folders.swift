import FoundationShim

/// An open folder below which files with untrusted names are made: no link below it is followed, and no name leads out
/// of it.
package final class OpenFolder: Sendable {
    package let path: String
    /// Mode of new folders; files lack the right to execute.
    private let mode: Int
    private let descriptor: Int32

    /// Opens a folder, or creates it. Links on the way to it are followed.
    package convenience init(_ path: String, mode: Int = 0o777) throws(SystemError) {
        try Files.makeFolder(path, mode: mode)
        let descriptor = open(path.cPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        self.init(path, mode, descriptor)
    }

    private init(_ path: String, _ mode: Int, _ descriptor: Int32) {
        (self.path, self.mode, self.descriptor) = (path, mode, descriptor)
    }

    deinit { close(descriptor) }

    /// Opens a folder below, and creates it and its parents as needed.
    package func folder(_ name: String) throws(SystemError) -> OpenFolder {
        guard Paths.fault(inForeign: name) == nil else { throw SystemError(code: EINVAL) }
        var folder = self
        for component in name.pathBytes.split(separator: UInt8(ascii: "/")) {
            folder = try folder.child(String(pathBytes: component))
        }
        return folder
    }

    private func child(_ name: String) throws(SystemError) -> OpenFolder {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        var child = openat(descriptor, name.cPath, flags)
        if child < 0, errno == ENOENT {
            guard mkdirat(descriptor, name.cPath, mode_t(mode)) == 0 || errno == EEXIST else { throw .last }
            child = openat(descriptor, name.cPath, flags)
        }
        guard child >= 0 else { throw .last }
        return OpenFolder(Paths.join(path, name), mode, child)
    }

    /// Returns the folder of `name`, created if missing, and the name in it.
    private func parent(of name: String) throws(SystemError) -> (folder: OpenFolder, name: String) {
        guard Paths.fault(inForeign: name) == nil else { throw SystemError(code: EINVAL) }
        let above = Paths.folder(of: name)
        return (Paths.areEqual(above, ".") ? self : try folder(above), Paths.name(of: name))
    }

    /// Opens a file for reading and writing, or creates it. Excess permissions of an existing file are removed.
    /// - Parameter mode: mode of a new file, restricted by the folder's.
    /// - Returns: the descriptor, owned by the caller.
    package func file(_ name: String, mode: Int = 0o666) throws(SystemError) -> Int32 {
        let place = try parent(of: name)
        let mode = mode_t(mode & self.mode)
        let file = openat(
            place.folder.descriptor, place.name.cPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode)
        guard file >= 0 else { throw .last }
        if mode == 0o600 { fchmod(file, mode) }
        return file
    }

    /// Takes the lock of a file, created as needed: `flock`, like Python's filelock.
    /// - Returns: nil while another process holds it; never on a file system without locks.
    package func lock(_ name: String) throws(SystemError) -> File? {
        // Others of the group may share the folder.
        let file = File(path: Paths.join(path, name), descriptor: try file(name, mode: 0o664))
        return (try? file.lock()) == false ? nil : file
    }

    /// Writes a small file, and puts it in place atomically.
    package func write(_ text: String, to name: String) throws(SystemError) {
        let place = try parent(of: name)
        let draft = Self.draft("tmp")
        let file = openat(
            place.folder.descriptor, draft.cPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
            mode_t(mode & 0o666))
        guard file >= 0 else { throw .last }
        do throws(SystemError) {
            defer { close(file) }
            try Files.write(Array(text.utf8), to: file)
        } catch {
            unlinkat(place.folder.descriptor, draft.cPath, 0)
            throw error
        }
        try place.folder.replace(place.name, by: draft)
    }

    /// Makes a symbolic link, replacing an existing one atomically.
    package func link(_ name: String, to target: String) throws(SystemError) {
        let place = try parent(of: name)
        let folder = place.folder
        if symlinkat(target.cPath, folder.descriptor, place.name.cPath) == 0 { return }
        guard errno == EEXIST else { throw .last }
        let draft = Self.draft("phibatch-draft")
        guard symlinkat(target.cPath, folder.descriptor, draft.cPath) == 0 else { throw .last }
        try folder.replace(place.name, by: draft)
    }

    /// Renames a file atomically.
    package func rename(_ name: String, to newName: String) throws(SystemError) {
        let (old, new) = (try parent(of: name), try parent(of: newName))
        guard renameat(old.folder.descriptor, old.name.cPath, new.folder.descriptor, new.name.cPath) == 0
        else { throw .last }
    }

    private func replace(_ name: String, by draft: String) throws(SystemError) {
        guard renameat(descriptor, draft.cPath, descriptor, name.cPath) != 0 else { return }
        let failure = SystemError.last
        unlinkat(descriptor, draft.cPath, 0)
        throw failure
    }

    private static func draft(_ ending: String) -> String {
        "\(String(UInt64.random(in: 0 ... .max), radix: 16)).\(getpid()).\(ending)"
    }
}

/// Folders that this process' user owns and nobody else can write, for files that results may depend on. A checksum
/// proves that a file is complete, not who wrote it.
///
/// All checks apply to the opened files, so nothing can be replaced after a check.
extension OpenFolder {
    /// - Parameter own: may be a link, whose target counts.
    /// - Throws: `SystemError`, also if others could have written there.
    package convenience init(own path: String) throws(SystemError) {
        let descriptor = open(path.cPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(path, "can't be opened", code: errno) }
        self.init(path, 0o700, descriptor)
        if let problem = ownershipProblem(descriptor) { throw SystemError(path, problem) }
    }

    /// Opens a regular file, not a link, that nobody else can write.
    /// - Throws: `SystemError`.
    package func ownFile(_ name: String) throws(SystemError) -> File {
        let (path, flags) = (Paths.join(path, name), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        let descriptor = openat(descriptor, name.cPath, flags)
        guard descriptor >= 0 else { throw SystemError(path, "can't be opened", code: errno) }
        let file = File(path: path, descriptor: descriptor)
        guard (try? file.info())?.kind == .regular else { throw SystemError(path, "is not a regular file") }
        if let problem = ownershipProblem(descriptor) { throw SystemError(path, problem) }
        return file
    }
}

/// Returns who else could have written an open file or folder, as the end of a sentence that begins with its path; nil
/// if nobody could.
private func ownershipProblem(_ descriptor: Int32) -> String? {
    let info: FileInfo
    do { info = try FileInfo(of: descriptor) } catch { return "can't be examined: \(error.reason)" }
    let user = geteuid()
    if info.user != user {
        return "belongs to another user (\(info.user)), and only what this one (\(user)) owns is used"
    }
    guard info.mode & 0o022 == 0 else {
        let mode = String(info.mode, radix: 8)
        return "can be written by others (its mode is \(mode)), and so is not used; chmod go-w mends that"
    }
    return nil
}
