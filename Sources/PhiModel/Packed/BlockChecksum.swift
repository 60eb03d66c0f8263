/// A checksum that costs no more than reading: two running sums over lanes of 64 bits (as Fletcher's and
/// Adler's), the second of which knows the order. For finding damage, not for keeping out forgery.
enum BlockChecksum {
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var sums = SIMD8<UInt64>()
        var sumsOfSums = SIMD8<UInt64>()
        var index = 0
        while index + 64 <= bytes.count {
            sums &+= bytes.loadUnaligned(fromByteOffset: index, as: SIMD8<UInt64>.self)
            sumsOfSums &+= sums
            index += 64
        }
        // Lanes and the last bytes are mixed in by a multiplication that no bit is lost in.
        var result = UInt64(bytes.count)
        func mix(_ value: UInt64) {
            result = (result ^ value) &* 0x9e37_79b9_7f4a_7c15
            result ^= result >> 32
        }
        for lane in 0..<8 {
            mix(sums[lane])
            mix(sumsOfSums[lane])
        }
        while index < bytes.count {
            mix(UInt64(bytes[index]))
            index += 1
        }
        return result
    }
}
