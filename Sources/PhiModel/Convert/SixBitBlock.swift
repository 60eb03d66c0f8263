/// Q6_K: 256 values in groups of 16 with a signed scale of 8 bits each, times one half-precision number for all.
///
/// MLX's groups have 32 values or more, so two groups become one of 8 bits over the range of both. Where their
/// scales are equal the values stay exact; else a value moves by at most a 510th of that range.
enum SixBitBlock {
    @inline(__always)
    static func affine(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int
    ) -> (scale: Float, bias: Float) {
        let (first, second) = scales(bytes, at: offset, group: group)
        if first == second { return (first, -32 * first) }
        var (low, high) = (Float.infinity, -Float.infinity)
        for index in 0..<32 {
            let value = value(bytes, at: offset, group: group, index: index)
            (low, high) = (min(low, value), max(high, value))
        }
        return ((high - low) / 255, low)
    }

    @inline(__always)
    static func codes(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, into codes: UnsafeMutablePointer<UInt8>
    ) {
        let (first, second) = scales(bytes, at: offset, group: group)
        if first == second {
            for index in 0..<32 { codes[index] = code(bytes, at: offset, group: group, index: index) }
            return
        }
        let (scale, bias) = affine(bytes, at: offset, group: group)
        for index in 0..<32 {
            let value = value(bytes, at: offset, group: group, index: index)
            codes[index] = scale > 0 ? UInt8(max(0, min(255, ((value - bias) / scale).rounded()))) : 0
        }
    }

    /// What the file says.
    @inline(__always)
    static func value(_ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, index: Int) -> Float {
        let (first, second) = scales(bytes, at: offset, group: group)
        let code = Int(code(bytes, at: offset, group: group, index: index)) - 32
        return (index < 16 ? first : second) * Float(code)
    }

    /// The scales of the 16 values of each half of a group.
    @inline(__always)
    private static func scales(_ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int) -> (Float, Float)
    {
        let all = QuantizedBlock.half(bytes, at: offset + 208)
        func scale(_ number: Int) -> Float { all * Float(Int8(bitPattern: bytes[offset + 192 + number])) }
        return (scale(2 * group), scale(2 * group + 1))
    }

    /// For each 128 values, 64 bytes hold the low 4 bits (two groups in the low halves, two in the high ones) and 32
    /// bytes the high 2 bits of all four groups.
    @inline(__always)
    private static func code(_ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, index: Int) -> UInt8
    {
        let (part, within) = (group / 4, group % 4)
        let low = bytes[offset + part * 64 + within % 2 * 32 + index] >> UInt8(within / 2 * 4) & 0xF
        let high = bytes[offset + 128 + part * 32 + index] >> UInt8(2 * within) & 3
        return low | high << 4
    }
}
