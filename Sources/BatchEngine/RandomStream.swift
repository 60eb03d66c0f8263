import Crypto

/// Keys of random streams: each completion has its own, whenever and beside whatever it runs.
package enum RandomStream {
    /// The first 8 bytes of SHA-256 over seed, sample number and id; from a second attempt on, over seed, the complement
    /// of the attempt's number, sample number and id. (No sample has such a number.)
    /// - Parameter attempt: how many completions of the sample were turned down before this one.
    package static func key(seed: Int, id: String, sample: Int, attempt: Int = 0) -> UInt64 {
        var hash = SHA256()
        let numbers = attempt == 0 ? [seed, sample] : [seed, ~attempt, sample]
        for number in numbers.map({ Int64($0) }) {
            withUnsafeBytes(of: number.littleEndian) { hash.update(bufferPointer: $0) }
        }
        var id = id
        id.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return hash.finalize().prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
