import OperatingSystem
import PhiModel

enum TextFile {
    /// - Throws: `UserError` if it can't be read, or is not UTF-8.
    static func contents(of path: String) throws -> String {
        let bytes = try explaining(.missing, at: path, "can't be read", try Files.contents(of: path))
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw UserError(.malformed, at: path, "is not UTF-8 text.")
        }
        return text
    }
}
