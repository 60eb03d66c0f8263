/// Q6_K: 256 values in groups of 16, each with a scale of its own, times one half-precision number for all.
///
/// MLX's groups have 32 values or more, so two groups become one of 8 bits over the range of both. Where they are
/// scaled alike the values stay exact; else a value moves by at most a 510th of that range.
enum SixBitBlock {
    @inline(__always)
    static func affine(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int
    ) -> (scale: Float, bias: Float) {
        let (first, second) = scales(bytes, at: offset, group: group)
        if first == second { return (first, -32 * first) }
        return withUnsafeTemporaryAllocation(of: Float.self, capacity: 32) { values in
            guard let base = values.baseAddress else { return (first, -32 * first) }
            self.values(bytes, at: offset, group: group, into: base)
            var (low, high) = (base[0], base[0])
            for index in 1..<32 { (low, high) = (min(low, base[index]), max(high, base[index])) }
            return ((high - low) / 255, low)
        }
    }

    @inline(__always)
    static func codes(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, into codes: UnsafeMutablePointer<UInt8>
    ) {
        let (first, second) = scales(bytes, at: offset, group: group)
        let (scale, bias) = affine(bytes, at: offset, group: group)
        for index in 0..<32 {
            let own = code(bytes, at: offset, group: group, index: index)
            let half = index < 16 ? first : second
            let value = half * Float(own) - 32 * half
            codes[index] =
                first == second
                ? own : scale > 0 ? UInt8(max(0, min(255, ((value - bias) / scale).rounded()))) : 0
        }
    }

    /// Writes the 32 values that the file says.
    @inline(__always)
    static func values(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, into values: UnsafeMutablePointer<Float>
    ) {
        let (first, second) = scales(bytes, at: offset, group: group)
        for index in 0..<32 {
            let half = index < 16 ? first : second
            values[index] = half * Float(code(bytes, at: offset, group: group, index: index)) - 32 * half
        }
    }

    /// Scales of the 16 values of each half of a group; the bias is -32 of it. Both are exact.
    @inline(__always)
    private static func scales(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int
    ) -> (first: Float, second: Float) {
        let all = QuantizedBlock.half(bytes, at: offset + 208)
        let place = offset + 192 + 2 * group
        return (
            all * Float(Int8(bitPattern: bytes[place])), all * Float(Int8(bitPattern: bytes[place + 1]))
        )
    }

    /// For each 128 values, 64 bytes hold the low 4 bits (two groups in the low halves, two in the high ones) and 32
    /// bytes the high 2 bits of all four groups.
    @inline(__always)
    private static func code(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, index: Int
    ) -> UInt8 {
        let (part, within) = (group / 4, group % 4)
        let low = bytes[offset + part * 64 + within % 2 * 32 + index] >> UInt8(within / 2 * 4) & 0xF
        let high = bytes[offset + 128 + part * 32 + index] >> UInt8(2 * within) & 3
        return low | high << 4
    }
}
