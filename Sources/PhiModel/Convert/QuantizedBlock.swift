/// GGUF's blocks in terms of MLX's groups of 32 values: value = scale * code + bias, codes from 0 on.
///
/// Formulas: https://github.com/ggml-org/ggml/blob/master/src/ggml-quants.c (dequantize_row_*).
enum QuantizedBlock {
    /// The scale and bias of a group of the block at `offset`. Both are exact in lossless types: a bias is the
    /// file's own minimum, or the scale times a small whole number.
    /// - Parameter group: 0 ..< `groupsPerBlock`.
    @inline(__always)
    static func affine(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType
    ) -> (scale: Float, bias: Float) {
        switch type {
        case .q4K, .q5K: return KBlock.affine(bytes, at: offset, group: group)
        case .q6K: return SixBitBlock.affine(bytes, at: offset, group: group)
        default: break
        }
        let scale = half(bytes, at: offset)
        if let zero = type.offset { return (scale, -zero * scale) }
        return (scale, half(bytes, at: offset + 2))
    }

    /// Writes the 32 codes of a group of the block at `offset`, in order of columns.
    @inline(__always)
    static func codes(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType,
        into codes: UnsafeMutablePointer<UInt8>
    ) {
        switch type {
        case .q4Type0: nibbles(bytes, at: offset + 2, into: codes)
        case .q4Type1: nibbles(bytes, at: offset + 4, into: codes)
        case .q5Type0: fiveBits(bytes, at: offset + 2, into: codes)
        case .q5Type1: fiveBits(bytes, at: offset + 4, into: codes)
        case .q8Type0:
            // Signed -128 ... 127 plus 128 is a flip of the highest bit.
            for index in 0..<32 { codes[index] = bytes[offset + 2 + index] ^ 0x80 }
        case .q4K: KBlock.nibbles(bytes, at: offset + 16, group: group, into: codes)
        case .q5K:
            KBlock.nibbles(bytes, at: offset + 48, group: group, into: codes)
            for index in 0..<32 {
                codes[index] |= (bytes[offset + 16 + index] >> UInt8(group) & 1) << 4
            }
        case .q6K: SixBitBlock.codes(bytes, at: offset, group: group, into: codes)
        case .f32, .f16, .bf16: preconditionFailure("a float tensor has no codes")
        }
    }

    @inline(__always)
    static func half(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Float {
        HalfFloat.widen(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    /// Low halves of the 16 bytes are the first 16 values, high halves the others.
    @inline(__always)
    private static func nibbles(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, into codes: UnsafeMutablePointer<UInt8>
    ) {
        for index in 0..<16 {
            let byte = bytes[offset + index]
            codes[index] = byte & 0xF
            codes[index + 16] = byte >> 4
        }
    }

    /// A word with the fifth bits, value 0 in its lowest, in front of the nibbles.
    @inline(__always)
    private static func fiveBits(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, into codes: UnsafeMutablePointer<UInt8>
    ) {
        let high = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        nibbles(bytes, at: offset + 4, into: codes)
        for index in 0..<32 { codes[index] |= UInt8(high >> UInt32(index) & 1) << 4 }
    }
}
