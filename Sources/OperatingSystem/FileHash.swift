import Errors

/// SHA-256 of a file's content, and the file's state at that time.
package struct FileHash: Equatable, Sendable {
    package var state: FileInfo
    /// 64 hexadecimal digits.
    package var sha256: String

    package init(state: FileInfo, sha256: String) {
        self.state = state
        self.sha256 = sha256
    }

    /// Reads the whole file.
    /// - Throws: `UserError`, also if the file changes meanwhile.
    package init(of file: File) throws(UserError) {
        let before = try file.info()
        var hash = SHA.sha256()
        let count = try file.forEachPiece {
            hash.update($0)
            return true
        }
        guard count == before.size, try file.info().hasContent(of: before) else {
            throw UserError(
                .io, at: file.path, "changed while it was read. Run again once it is whole.")
        }
        self.init(state: before, sha256: Self.hexadecimal(hash.finalize()))
    }

    package static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns the hash in a file's name: Hugging Face's cache stores large files in `blobs` under the SHA-256 of their
    /// content. Nil for any other file.
    static func promised(by path: String) -> String? {
        guard let parts = Files.canonicalPath(path)?.split(at: "/").suffix(2), parts.first == "blobs",
            let name = parts.last, name.utf8.count == 64,
            name.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 })
        else { return nil }
        return String(name)
    }
}
