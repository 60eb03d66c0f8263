import OperatingSystem

/// A whole file mapped into memory, read-only, as long as this object lives.
///
/// The size is that at opening. If another program truncates a mapped file, the next access beyond its new end kills
/// the process with SIGBUS: model files must be replaced (a new file renamed over the old one), never rewritten in
/// place, during a run.
package final class MappedFile: Sendable {
    /// The path as it was given.
    package let path: String
    /// State of the file when it was opened.
    package let state: FileState
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer?
    package let count: Int

    /// - Throws: `UserError`: `missing` if the file can't be opened or is not a regular file,
    ///   `resources` if it can't be mapped.
    package init(path: String) throws {
        let mapping: Platform.Mapping
        do throws(SystemError) {
            mapping = try Platform.map(path)
        } catch {
            if error.what == "can't be mapped" {
                throw UserError(
                    .resources, at: path,
                    "there is not enough memory: the file \(error.reason). "
                        + "Raise the limit (ulimit -v), or choose a smaller model.")
            }
            if error.isNotFound { throw UserError(.missing, at: path, "there is no such file.") }
            throw error.what.isEmpty
                ? UserError(.missing, at: path, "can't be opened", error)
                : UserError(.missing, at: path, "\(error.reason).")
        }
        self.path = path
        base = mapping.base
        count = mapping.count
        state = mapping.state
    }

    /// - Throws: `SystemError`.
    package init(_ file: OpenFile) throws {
        let mapping = try file.withDescriptor { descriptor in Result { try Platform.map(descriptor) } }.get()
        path = file.path
        base = mapping.base
        count = mapping.count
        state = mapping.state
    }

    deinit {
        if let base { Platform.unmap(base, count: count) }
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
