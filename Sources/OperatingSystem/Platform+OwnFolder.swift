import FoundationShim

/// An open folder that this process' user owns and nobody else can write, for files that results may depend on. A
/// checksum proves that a file is complete, not who wrote it.
///
/// All checks apply to the opened files, so nothing can be replaced after a check.
package final class OwnFolder: Sendable {
    package let path: String
    private let descriptor: Int32

    /// - Parameter path: may be a link, whose target counts.
    /// - Throws: `SystemError`.
    package init(_ path: String) throws(SystemError) {
        descriptor = open(path.cPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(path, "can't be opened", code: errno) }
        self.path = path
        if let problem = ownershipProblem(descriptor) { throw SystemError(path, problem) }
    }

    deinit { close(descriptor) }

    /// Opens a regular file in it, not a link, with the same ownership as the folder.
    /// - Throws: `SystemError`.
    package func file(_ name: String) throws(SystemError) -> OpenFile {
        let file = try OpenFile(
            path: Paths.join(path, name),
            descriptor: openat(
                descriptor, name.cPath, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW))
        if let problem = file.withDescriptor(ownershipProblem) {
            throw SystemError(file.path, problem)
        }
        return file
    }
}

/// Returns who else could have written an open file or folder, as the end of a sentence that begins with its path; nil
/// if nobody could.
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
