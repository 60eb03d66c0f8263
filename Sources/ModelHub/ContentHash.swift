import OperatingSystem

/// Checks a file against the hash that the hub promises as its ETag.
struct ContentHash {
    /// Large files: SHA-256 of the content. Small files: git's hash, SHA-1 of a head with the size and the content. Nil
    /// for a mirror's own tag: nothing to check.
    private var hash: SHA?
    private let expected: String

    /// - Parameter size: of the whole content, in bytes.
    init(etag: String, size: Int) {
        expected = etag.lowercased()
        guard expected.utf8.allSatisfy(\.isHexadecimal) else { return }
        switch etag.utf8.count {
        case 64: hash = .sha256()
        case 40:
            hash = .sha1()
            hash?.update("blob \(size)\0".utf8)
        default: break
        }
    }

    /// Whether there is anything to check.
    var isKnown: Bool { hash != nil }

    mutating func update(_ bytes: UnsafeRawBufferPointer) { hash?.update(bytes) }

    /// Whether all bytes together are what the ETag promises.
    func isRight() -> Bool { hash.map { FileHash.hexadecimal($0.finalize()) == expected } ?? true }
}
