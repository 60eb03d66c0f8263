/// TQ1_0 and TQ2_0: 256 values, each -1, 0 or 1 times one half-precision number.
enum TernaryBlock {
    @inline(__always)
    static func affine(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, type: GGMLType
    ) -> (scale: Float, bias: Float) {
        let scale = QuantizedBlock.half(bytes, at: offset + type.blockSize - 2)
        return (scale, -scale)
    }

    @inline(__always)
    static func codes(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType,
        into codes: UnsafeMutablePointer<UInt8>
    ) {
        for index in 0..<32 {
            codes[index] =
                type == .tq2
                ? KBlock.twoBits(bytes, at: offset, group: group, index)
                : digit(bytes, at: offset, 32 * group + index)
        }
    }

    /// A byte of TQ1_0 holds five digits to base 3 as a fraction of 256, the first digit highest: 32 bytes the first 160
    /// values, 16 bytes the next 80, 4 bytes four digits each.
    @inline(__always)
    private static func digit(_ bytes: UnsafeRawBufferPointer, at offset: Int, _ index: Int) -> UInt8 {
        let (start, width, within) =
            index < 160 ? (0, 32, index) : index < 240 ? (32, 16, index - 160) : (48, 4, index - 240)
        var fraction = bytes[offset + start + within % width]
        for _ in 0..<within / width { fraction &*= 3 }
        return UInt8((UInt16(fraction) * 3) >> 8)
    }
}
