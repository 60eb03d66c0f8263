import Crypto
import Foundations

/// Checks a file against the hash that the hub promises as its ETag.
struct ContentHash {
    private enum Kind {
        /// Large files: SHA-256 of the content.
        case sha256(SHA256)
        /// Small files: git's hash, SHA-1 of a head with the size and the content.
        case git(Insecure.SHA1)
        /// A mirror's own tag: nothing to check.
        case unknown
    }

    private var kind: Kind
    private let expected: String

    /// - Parameter size: of the whole content, in bytes.
    init(etag: String, size: Int) {
        expected = etag.lowercased()
        guard expected.utf8.allSatisfy(\.isHexadecimal) else {
            kind = .unknown
            return
        }
        switch etag.utf8.count {
        case 64: kind = .sha256(SHA256())
        case 40:
            var hash = Insecure.SHA1()
            hash.update(data: Array("blob \(size)\0".utf8))
            kind = .git(hash)
        default: kind = .unknown
        }
    }

    /// Whether there is anything to check.
    var isKnown: Bool { if case .unknown = kind { false } else { true } }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch kind {
        case .sha256(var hash):
            kind = .unknown
            hash.update(bufferPointer: bytes)
            kind = .sha256(hash)
        case .git(var hash):
            kind = .unknown
            hash.update(bufferPointer: bytes)
            kind = .git(hash)
        case .unknown: break
        }
    }

    /// Whether all bytes together are what the ETag promises.
    func isRight() -> Bool {
        switch kind {
        case .sha256(let hash): FileHash.hexadecimal(hash.finalize()) == expected
        case .git(let hash): FileHash.hexadecimal(hash.finalize()) == expected
        case .unknown: true
        }
    }
}
