import Crypto

/// Keys of random streams: each completion has its own, whenever and beside whatever it runs.
package enum RandomStream {
    /// The first 8 bytes of SHA-256 over seed, sample number and id.
    package static func key(seed: Int, id: String, sample: Int) -> UInt64 {
        var hash = SHA256()
        for number in [Int64(seed), Int64(sample)] {
            withUnsafeBytes(of: number.littleEndian) { hash.update(bufferPointer: $0) }
        }
        var id = id
        id.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return hash.finalize().prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
