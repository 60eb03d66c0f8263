import Errors
import OperatingSystem

extension Memory {
    /// Checks that there is room for many small allocations, which can't be checked one by one.
    /// - Parameters:
    ///   - count: bytes.
    ///   - path: the file that needs them.
    /// - Throws: `UserError` of kind `resources` if there is none.
    package static func require(_ count: Int, for path: String) throws(UserError) {
        if hasRoom(for: count + spare) { return }
        throw UserError(
            .resources, at: path,
            "there is not enough memory: it takes \(byteText(count)). Raise the limit (ulimit -v, ulimit -d)."
        )
    }
}
