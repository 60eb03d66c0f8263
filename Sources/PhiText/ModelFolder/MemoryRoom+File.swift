import Errors
import OperatingSystem

extension MemoryRoom {
    /// Looks whether there is room for what will be allocated in small pieces, which can't be asked each.
    /// - Parameters:
    ///   - count: bytes.
    ///   - path: the file that takes them.
    /// - Throws: `ModelError` of kind `resources` if there is not.
    package static func require(_ count: Int, for path: String) throws(ModelError) {
        if isThere(for: count + spare) { return }
        throw ModelError(
            .resources, path: path,
            "there is not enough memory: it takes \(byteText(count)). Raise the limit (ulimit -v, ulimit -d)."
        )
    }
}
