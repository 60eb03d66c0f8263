import OperatingSystem

/// Random numbers of completions. Each completion has a stream of its own, independent of what runs beside it.
package enum RandomStream {
    /// Returns the first 8 bytes of SHA-256 over seed, sample and id. From the second attempt on, the complement of the
    /// attempt's number, which no sample has, stands between seed and sample.
    /// - Parameter attempt: number of rejected completions of the sample.
    package static func key(seed: Int, id: String, sample: Int, attempt: Int = 0) -> UInt64 {
        var hash = SHA.sha256()
        let numbers = attempt == 0 ? [seed, sample] : [seed, ~attempt, sample]
        for number in numbers.map({ Int64($0) }) {
            withUnsafeBytes(of: number.littleEndian) { hash.update($0) }
        }
        hash.update(id.utf8)
        return hash.finalize().prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns 64 uniform bits for a position of a stream (SplitMix64's finalizer, Steele et al. 2014).
    package static func bits(stream: UInt64, position: Int) -> UInt64 {
        var x = stream &+ UInt64(bitPattern: Int64(position)) &* 0x9e37_79b9_7f4a_7c15
        for _ in 0..<2 {
            x = (x ^ (x >> 30)) &* 0xbf58_476d_1ce4_e5b9
            x = (x ^ (x >> 27)) &* 0x94d0_49bb_1331_11eb
            x ^= x >> 31
            x &+= 0x9e37_79b9_7f4a_7c15
        }
        return x
    }

    /// Returns a uniform number in [0, 1) for a position of a stream.
    package static func uniform(stream: UInt64, position: Int) -> Double {
        Double(bits(stream: stream, position: position) >> 11) * 0x1p-53
    }
}
