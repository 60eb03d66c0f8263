import Crypto

/// The ids met so far, 16 bytes each: enough that two ids are never taken for one by chance.
struct SeenIDs {
    private struct Digest: Hashable {
        var high: UInt64
        var low: UInt64
    }

    private var digests: Set<Digest> = []

    /// - Returns: false if the id was met before.
    mutating func insert(_ id: String) -> Bool {
        var id = id
        let hash = id.withUTF8 { SHA256.hash(data: UnsafeRawBufferPointer($0)) }
        return hash.withUnsafeBytes { bytes in
            digests.insert(
                Digest(high: bytes.load(as: UInt64.self), low: bytes.load(fromByteOffset: 8, as: UInt64.self))
            ).inserted
        }
    }
}
