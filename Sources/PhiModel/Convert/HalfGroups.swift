/// Q2_K, Q6_K, IQ2_XS and IQ2_S: 256 values in groups of 16, each with a scale of its own and, in Q2_K, a minimum,
/// times half-precision numbers for all.
///
/// MLX's groups have 32 values or more, so two groups become one of 8 bits over the range of both. Where they are
/// scaled alike the values stay exact; else a value moves by at most a 510th of that range.
enum HalfGroups {
    @inline(__always)
    static func affine(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType
    ) -> (scale: Float, bias: Float) {
        let (first, second) = halves(bytes, at: offset, group: group, type: type)
        if first == second { return first }
        return withUnsafeTemporaryAllocation(of: Float.self, capacity: 32) { values in
            guard let base = values.baseAddress else { return first }
            self.values(bytes, at: offset, group: group, type: type, into: base)
            var (low, high) = (base[0], base[0])
            for index in 1..<32 { (low, high) = (min(low, base[index]), max(high, base[index])) }
            return ((high - low) / 255, low)
        }
    }

    @inline(__always)
    static func codes(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType,
        into codes: UnsafeMutablePointer<UInt8>
    ) {
        own(bytes, at: offset, group: group, type: type, into: codes)
        let (first, second) = halves(bytes, at: offset, group: group, type: type)
        if first == second { return }
        let (scale, bias) = affine(bytes, at: offset, group: group, type: type)
        for index in 0..<32 {
            let half = index < 16 ? first : second
            let value = half.scale * Float(codes[index]) + half.bias
            codes[index] = scale > 0 ? UInt8(max(0, min(255, ((value - bias) / scale).rounded()))) : 0
        }
    }

    /// What the file says: 32 values.
    @inline(__always)
    static func values(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType,
        into values: UnsafeMutablePointer<Float>
    ) {
        let (first, second) = halves(bytes, at: offset, group: group, type: type)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { codes in
            guard let base = codes.baseAddress else { return }
            own(bytes, at: offset, group: group, type: type, into: base)
            for index in 0..<32 {
                let half = index < 16 ? first : second
                values[index] = half.scale * Float(base[index]) + half.bias
            }
        }
    }

    /// The file's own codes.
    @inline(__always)
    private static func own(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType,
        into codes: UnsafeMutablePointer<UInt8>
    ) {
        if type == .iq2XS || type == .iq2S {
            return CodeBookBlock.codes(bytes, at: offset, group: group, type: type, into: codes)
        }
        for index in 0..<32 { codes[index] = code(bytes, at: offset, group: group, type: type, index: index) }
    }

    /// Scale and bias of the 16 values of each half of a group, both exact.
    @inline(__always)
    private static func halves(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType
    ) -> ((scale: Float, bias: Float), (scale: Float, bias: Float)) {
        if type == .q6K {
            let all = QuantizedBlock.half(bytes, at: offset + 208)
            func half(_ number: Int) -> (scale: Float, bias: Float) {
                let scale = all * Float(Int8(bitPattern: bytes[offset + 192 + number]))
                return (scale, -32 * scale)
            }
            return (half(2 * group), half(2 * group + 1))
        }
        if type != .q2K {
            return (
                CodeBookBlock.half(bytes, at: offset, number: 2 * group, type: type),
                CodeBookBlock.half(bytes, at: offset, number: 2 * group + 1, type: type)
            )
        }
        let scale = QuantizedBlock.half(bytes, at: offset + 80)
        let minimum = QuantizedBlock.half(bytes, at: offset + 82)
        func half(_ number: Int) -> (scale: Float, bias: Float) {
            let byte = bytes[offset + number]
            return (scale * Float(byte & 0xF), -(minimum * Float(byte >> 4)))
        }
        return (half(2 * group), half(2 * group + 1))
    }

    /// For each 128 values of Q6_K, 64 bytes hold the low 4 bits (two groups in the low halves, two in the high ones)
    /// and 32 bytes the high 2 bits of all four groups; of Q2_K, 32 bytes hold all.
    @inline(__always)
    private static func code(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType, index: Int
    ) -> UInt8 {
        let (part, within) = (group / 4, group % 4)
        guard type == .q6K else { return KBlock.twoBits(bytes, at: offset + 16, group: group, index) }
        let low = bytes[offset + part * 64 + within % 2 * 32 + index] >> UInt8(within / 2 * 4) & 0xF
        let high = bytes[offset + 128 + part * 32 + index] >> UInt8(2 * within) & 3
        return low | high << 4
    }
}
