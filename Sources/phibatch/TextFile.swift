import OperatingSystem
import PhiModel

enum TextFile {
    /// - Throws: `ModelError` if it can't be read, or is not UTF-8.
    static func contents(of path: String) throws -> String {
        let bytes: [UInt8]
        do throws(Files.Failure) { bytes = try Files.contents(of: path) } catch {
            throw ModelError(.missing, path: path, "can't be read: \(error.reason).")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ModelError(.malformed, path: path, "is not UTF-8 text.")
        }
        return text
    }
}
