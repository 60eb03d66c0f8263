/// A checksum that costs little more than reading: four lanes of 64 bits, multiplied and rotated. It detects any change
/// of one word; it protects against damage, not forgery.
enum BlockChecksum {
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var lanes: (UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4)
        var index = 0
        func word(_ place: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index + 8 * place, as: UInt64.self))
        }
        while index + 32 <= bytes.count {
            lanes.0 = mix(lanes.0, word(0))
            lanes.1 = mix(lanes.1, word(1))
            lanes.2 = mix(lanes.2, word(2))
            lanes.3 = mix(lanes.3, word(3))
            index += 32
        }
        var result = UInt64(bytes.count)
        for lane in [lanes.0, lanes.1, lanes.2, lanes.3] { result = mix(result, lane) }
        for byte in bytes[index...] { result = mix(result, UInt64(byte)) }
        return result
    }

    private static func mix(_ sum: UInt64, _ value: UInt64) -> UInt64 {
        let product = (sum ^ value) &* 0x9e37_79b9_7f4a_7c15
        return product << 29 | product >> 35
    }
}
