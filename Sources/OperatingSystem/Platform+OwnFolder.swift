import FoundationShim

/// A folder that this process' user owns and nobody else can write, held open: whose content results may depend on. A
/// checksum says that a file is whole, and not who wrote it.
///
/// All is asked of what was opened, so that nothing can be put in its place after it was looked at.
package final class OwnFolder: Sendable {
    package let path: String
    private let descriptor: Int32

    /// - Parameter path: may be a link: what it leads to counts.
    /// - Throws: `FileFault`.
    package init(_ path: String) throws(FileFault) {
        descriptor = open(path.cPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFault(path, "can't be opened", errno) }
        self.path = path
        if let problem = ownershipProblem(descriptor) { throw FileFault(path: path, reason: problem) }
    }

    deinit { close(descriptor) }

    /// Opens a regular file in it, no link, that is the user's as the folder is.
    /// - Throws: `FileFault`.
    package func file(_ name: String) throws(FileFault) -> OpenFile {
        let file = try OpenFile(
            path: Paths.join(path, name),
            descriptor: openat(
                descriptor, name.cPath, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW))
        if let problem = file.withDescriptor(ownershipProblem) {
            throw FileFault(path: file.path, reason: problem)
        }
        return file
    }
}

/// Who else could have written an open file or folder, at the end of a sentence that begins with its path; nil if nobody
/// could.
private func ownershipProblem(_ descriptor: Int32) -> String? {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
        return "can't be examined: \(String(cString: strerror(errno)))"
    }
    let user = geteuid()
    if status.st_uid != user {
        return "belongs to another user (\(status.st_uid)), and only what this one (\(user)) owns is used"
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
        let mode = String(status.st_mode & 0o7777, radix: 8)
        return "can be written by others (its mode is \(mode)), and so is not used; chmod go-w mends that"
    }
    return nil
}
