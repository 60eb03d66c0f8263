/// Q4_K and Q5_K: 256 values in 8 groups of 32, whose scales and minima are 6 bits each, times one half-precision
/// number for all scales and one for all minima.
enum KBlock {
    /// Exact: 11 bits times 6 fit a Float's 24.
    @inline(__always)
    static func affine(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int
    ) -> (scale: Float, bias: Float) {
        let (scale, minimum) = sixBits(bytes, at: offset + 4, group: group)
        return (
            QuantizedBlock.half(bytes, at: offset) * Float(scale),
            -(QuantizedBlock.half(bytes, at: offset + 2) * Float(minimum))
        )
    }

    /// 12 bytes hold 8 scales and 8 minima: the low 6 bits of the first 8 bytes are those of groups 0 to 3, and
    /// their high 2 bits go in front of the nibbles of the last 4 bytes for groups 4 to 7.
    @inline(__always)
    private static func sixBits(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int
    ) -> (scale: UInt8, minimum: UInt8) {
        guard group >= 4 else { return (bytes[offset + group] & 63, bytes[offset + group + 4] & 63) }
        let low = bytes[offset + group + 4]
        return (
            low & 0xF | (bytes[offset + group - 4] >> 6) << 4, low >> 4 | (bytes[offset + group] >> 6) << 4
        )
    }

    /// Each 32 bytes hold two groups: one in the low halves, the next in the high ones.
    @inline(__always)
    static func nibbles(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, into codes: UnsafeMutablePointer<UInt8>
    ) {
        let start = offset + group / 2 * 32
        for index in 0..<32 { codes[index] = bytes[start + index] >> UInt8(group % 2 * 4) & 0xF }
    }
}
