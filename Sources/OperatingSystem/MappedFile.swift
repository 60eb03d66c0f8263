import Errors
import FoundationShim

/// A whole file mapped into memory, read-only, as long as this object lives.
///
/// The size is that at opening. If another program truncates a mapped file, the next access beyond its new end kills
/// the process with SIGBUS: model files must be replaced (a new file renamed over the old one), never rewritten in
/// place, during a run.
package final class MappedFile: Sendable {
    /// The path as it was given.
    package let path: String
    /// State of the file when it was opened.
    package let state: FileInfo
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer?
    package let count: Int

    /// - Throws: `UserError`: `missing` if the file can't be opened or is not a regular file, `resources` if it can't be
    ///   mapped.
    package convenience init(path: String) throws(UserError) {
        let file: File
        do { file = try .regular(path) } catch {
            if error.isNotFound { throw UserError(.missing, at: path, "there is no such file.") }
            throw UserError(.missing, error)
        }
        do { try self.init(file) } catch {
            throw UserError(
                .resources, at: path,
                "there is not enough memory: the file \(error.reason). Raise the limit (ulimit -v), or choose a smaller "
                    + "model.")
        }
    }

    package init(_ file: File) throws(SystemError) {
        let state = try FileInfo(of: file.descriptor)
        let count = state.size
        (path, self.state, self.count) = (file.path, state, count)
        // An empty file can't be mapped.
        guard count > 0 else {
            base = nil
            return
        }
        let mapped = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.descriptor, 0)
        guard let mapped, mapped != MAP_FAILED else {
            throw SystemError(path, "can't be mapped", code: errno)
        }
        guard Memory.hasRoom(for: Memory.spare) else {
            munmap(mapped, count)
            throw SystemError(path, "can't be mapped", code: ENOMEM)
        }
        base = mapped
    }

    deinit {
        if let base { munmap(base, count) }
    }

    /// The file's bytes, valid as long as this object. Swift may release an object right after its last use: keep it in
    /// a property or parameter that outlives the pointer, or use `withBytes`.
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base.map { UnsafeRawPointer($0) }, count: count)
    }

    /// Calls `body` with the file's bytes and keeps the file mapped meanwhile.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try body(bytes) }
    }
}
