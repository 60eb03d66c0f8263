import CPhiKernels

/// Incremental hash of bytes (FIPS 180-4), by the processor's instructions if it has them.
package struct SHA: Sendable {
    /// A constant of the kernels.
    private nonisolated(unsafe) let hash: UnsafePointer<PhiHash>?
    private var hashing = PhiHashing()

    private nonisolated(unsafe) static let best = phi_sha256_at(0)

    private init(_ hash: UnsafePointer<PhiHash>?) {
        self.hash = hash
        phi_hash_begin(&hashing, hash)
    }

    package static func sha256() -> SHA { SHA(best) }
    /// Git's hash, for names of contents; nothing here relies on its security.
    package static func sha1() -> SHA { SHA(phi_sha1()) }

    /// Returns the 32 bytes of SHA-256.
    package static func sha256(of bytes: some Sequence<UInt8>) -> [UInt8] {
        var hash = sha256()
        hash.update(bytes)
        return hash.finalize()
    }

    /// Returns the first 64 bits of SHA-256.
    package static func short(of bytes: some Sequence<UInt8>) -> UInt64 { first(sha256(of: bytes)) }

    /// Returns the first 64 bits of a hash.
    package static func first(_ hash: [UInt8]) -> UInt64 { hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }

    package mutating func update(_ bytes: some Sequence<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ add($0) }) == nil {
            Array(bytes).withUnsafeBufferPointer { add($0) }
        }
    }

    private mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        phi_hash_add(&hashing, hash, bytes.baseAddress, bytes.count)
    }

    /// Returns the hash of all bytes so far: 32 bytes, or SHA-1's 20.
    package func finalize() -> [UInt8] {
        guard let words = hash?.pointee.words else { return [] }
        var last = hashing
        return [UInt8](unsafeUninitializedCapacity: 4 * words) { bytes, count in
            phi_hash_end(&last, hash, bytes.baseAddress)
            count = 4 * words
        }
    }
}
