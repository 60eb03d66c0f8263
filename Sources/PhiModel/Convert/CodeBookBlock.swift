/// GGUF's IQ1, IQ2 and IQ3 types: 256 values, of which each 8 or 4 in a row are one row of a code book, with signs or a
/// shift of their own, times a scale for each 32 or 16 values.
///
/// As whole numbers they are exact in MLX's format, of IQ2_XS and IQ2_S apart, which `HalfGroups` brings near.
/// Each type's order of bytes: https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h
enum CodeBookBlock {
    /// IQ1_M's values are odd multiples, up to this, of an eighth of the block's number.
    private static let oneBitLimit = 135

    @inline(__always)
    static func affine(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType
    ) -> (scale: Float, bias: Float) {
        switch type {
        case .iq1S:
            let word = word(bytes, at: offset + 34 + 2 * group)
            let scale = QuantizedBlock.half(bytes, at: offset) * Float(2 * (word >> 12 & 7) + 1)
            return (scale, scale * (word >> 15 == 0 ? -0.875 : -1.125))
        case .iq1M:
            var bits: UInt16 = 0
            for part in 0..<4 {
                bits |= UInt16(word(bytes, at: offset + 48 + 2 * part) >> 12) << UInt16(4 * part)
            }
            let scale = HalfFloat.widen(bits) / 4
            return (scale, -Float(oneBitLimit) / 2 * scale)
        case .iq2XXS:
            return half(0.25 * scale(word32(bytes, at: offset + 6 + 8 * group)), bytes, offset, type)
        case .iq3XXS:
            return half(0.5 * scale(word32(bytes, at: offset + 66 + 4 * group)), bytes, offset, type)
        default: return half(2 * scale(bytes, at: offset + 106, group), bytes, offset, type)
        }
    }

    /// Scale and bias of 16 values of IQ2_XS or IQ2_S.
    @inline(__always)
    static func half(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, number: Int, type: GGMLType
    ) -> (scale: Float, bias: Float) {
        half(0.25 * scale(bytes, at: offset + type.blockSize - 8, number), bytes, offset, type)
    }

    @inline(__always)
    private static func half(
        _ factor: Float, _ bytes: UnsafeRawBufferPointer, _ offset: Int, _ type: GGMLType
    ) -> (scale: Float, bias: Float) {
        let scale = QuantizedBlock.half(bytes, at: offset) * factor
        return (type == .iq3S || type == .iq3XXS ? 2 * scale : scale, -Float(limit(type)) * scale)
    }

    /// A scale's four bits, in halves as the format has them.
    @inline(__always)
    private static func scale(_ bytes: UnsafeRawBufferPointer, at offset: Int, _ number: Int) -> Float {
        Float(bytes[offset + number / 2] >> UInt8(number % 2 * 4) & 0xF) + 0.5
    }

    /// The same of four bits above the signs.
    @inline(__always)
    private static func scale(_ word: UInt32) -> Float { Float(word >> 28) + 0.5 }

    /// The largest value of a book, which is what a code of 0 stands for below zero.
    @inline(__always)
    private static func limit(_ type: GGMLType) -> Int { type == .iq3S ? 15 : type == .iq3XXS ? 62 : 43 }

    @inline(__always)
    static func codes(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType,
        into codes: UnsafeMutablePointer<UInt8>
    ) {
        for index in 0..<32 {
            codes[index] = code(bytes, at: offset, group: group, type: type, index: index)
        }
    }

    @inline(__always)
    static func code(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType, index: Int
    ) -> UInt8 {
        // Eight values in a row, which have a byte of signs.
        let (row, eight) = (index / 8, 4 * group + index / 8)
        let value: Int
        var signs: UInt32
        switch type {
        case .iq1S:
            let high = word(bytes, at: offset + 34 + 2 * group) >> UInt32(3 * row) & 7
            return CodeBook.oneBit.values[8 * Int(UInt32(bytes[offset + 2 + eight]) | high << 8) + index % 8]
        case .iq1M:
            let high = bytes[offset + 32 + eight / 2] >> UInt8(eight % 2 * 4)
            let number = Int(bytes[offset + eight]) | Int(high & 7) << 8
            let scales = word(bytes, at: offset + 48 + group / 2 * 2)
            let scale = 2 * Int(scales >> UInt32(group % 2 * 6 + index / 16 * 3) & 7) + 1
            let eighths =
                8 * (Int(CodeBook.oneBit.values[8 * number + index % 8]) - 1) + (high & 8 == 0 ? 1 : -1)
            return UInt8((scale * eighths + oneBitLimit) / 2)
        case .iq2XXS:
            signs = word32(bytes, at: offset + 6 + 8 * group) >> UInt32(7 * row) & 0x7F
            value = Int(
                CodeBook.twoBitsXXS.values[8 * Int(bytes[offset + 2 + 8 * group + row]) + index % 8])
        case .iq2XS:
            let word = word(bytes, at: offset + 2 + 2 * eight)
            signs = word >> 9
            value = Int(CodeBook.twoBitsXS.values[8 * Int(word & 0x1FF) + index % 8])
        case .iq2S:
            let high = bytes[offset + 66 + group] >> UInt8(2 * row) & 3
            signs = UInt32(bytes[offset + 34 + eight])
            value = Int(
                CodeBook.twoBitsS.values[8 * (Int(bytes[offset + 2 + eight]) | Int(high) << 8) + index % 8])
        case .iq3XXS:
            signs = word32(bytes, at: offset + 66 + 4 * group) >> UInt32(7 * row) & 0x7F
            let number = Int(bytes[offset + 2 + 8 * group + index / 4])
            value = Int(CodeBook.threeBitsXXS.values[4 * number + index % 4])
        default:
            let high = bytes[offset + 66 + group] >> UInt8(index / 4) & 1
            let number = Int(bytes[offset + 2 + 8 * group + index / 4]) | Int(high) << 8
            signs = UInt32(bytes[offset + 74 + eight])
            value = Int(CodeBook.threeBitsS.values[4 * number + index % 4])
        }
        // Of seven bits the eighth makes their number even.
        if type != .iq2S, type != .iq3S, signs.nonzeroBitCount % 2 == 1 { signs |= 0x80 }
        let signed = signs >> UInt32(index % 8) & 1 == 0 ? value : -value
        return UInt8((limit(type) + signed) >> (type == .iq3S || type == .iq3XXS ? 1 : 0))
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        UInt32(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    @inline(__always)
    private static func word32(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
