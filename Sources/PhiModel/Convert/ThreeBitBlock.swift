/// Q3_K: 256 values in groups of 16 with a signed scale of 6 bits each, times one half-precision number for all.
///
/// A value is that number times a scale from -32 to 31 times a code from -4 to 3: a whole number from -124 to 128,
/// which 8 bits hold exactly.
enum ThreeBitBlock {
    private static let lowest = -124

    @inline(__always)
    static func affine(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> (scale: Float, bias: Float) {
        let scale = QuantizedBlock.half(bytes, at: offset + 108)
        return (scale, Float(lowest) * scale)
    }

    /// The third bit of a value is in one of 32 bytes, a bit for each group; where it is missing, 4 is subtracted.
    @inline(__always)
    static func codes(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, into codes: UnsafeMutablePointer<UInt8>
    ) {
        for half in 0..<2 {
            let scale = scale(bytes, at: offset + 96, 2 * group + half)
            for index in half * 16..<half * 16 + 16 {
                let low = KBlock.twoBits(bytes, at: offset + 32, group: group, index)
                let isWhole = bytes[offset + index] >> UInt8(group) & 1 == 1
                codes[index] = UInt8(scale * (Int(low) - (isWhole ? 0 : 4)) - lowest)
            }
        }
    }

    /// 8 bytes hold the low 4 bits (first 8 scales in the low halves), 4 bytes the high 2 bits.
    @inline(__always)
    private static func scale(_ bytes: UnsafeRawBufferPointer, at offset: Int, _ number: Int) -> Int {
        let low = bytes[offset + number % 8] >> UInt8(number / 8 * 4) & 0xF
        let high = bytes[offset + 8 + number % 4] >> UInt8(number / 4 * 2) & 3
        return Int(low | high << 4) - 32
    }
}
