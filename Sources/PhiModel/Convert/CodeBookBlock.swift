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

    /// The file's own codes of a group, from 0 for the lowest value on.
    @inline(__always)
    static func codes(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType,
        into codes: UnsafeMutablePointer<UInt8>
    ) {
        book(of: type).values.withUnsafeBufferPointer { book in
            for row in 0..<4 {
                let (first, second, signs) = row8(bytes, at: offset, group: group, row: row, type: type)
                let codes = codes + 8 * row
                for index in 0..<4 {
                    (codes[index], codes[index + 4]) = (book[first + index], book[second + index])
                }
                switch type {
                case .iq1S: break
                case .iq1M:
                    let scales = word(bytes, at: offset + 48 + group / 2 * 2)
                    let scale = 2 * Int(scales >> UInt32(group % 2 * 6 + row / 2 * 3) & 7) + 1
                    for index in 0..<8 {
                        let eighths = 8 * (Int(codes[index]) - 1) + (signs == 0 ? 1 : -1)
                        codes[index] = UInt8((scale * eighths + oneBitLimit) / 2)
                    }
                default:
                    let (limit, shift) = (limit(type), type == .iq3S || type == .iq3XXS ? 1 : 0)
                    for index in 0..<8 {
                        let value = Int(codes[index])
                        let signed = signs >> UInt32(index) & 1 == 0 ? value : -value
                        codes[index] = UInt8((limit + signed) >> shift)
                    }
                }
            }
        }
    }

    @inline(__always)
    private static func book(of type: GGMLType) -> CodeBook {
        switch type {
        case .iq1S, .iq1M: .oneBit
        case .iq2XXS: .twoBitsXXS
        case .iq2XS: .twoBitsXS
        case .iq2S: .twoBitsS
        case .iq3XXS: .threeBitsXXS
        default: .threeBitsS
        }
    }

    /// Where the book has a row of eight values, its first four and the others, and the bits of their signs.
    @inline(__always)
    private static func row8(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, row: Int, type: GGMLType
    ) -> (first: Int, second: Int, signs: UInt32) {
        let place = 4 * group + row
        let number: Int
        var signs: UInt32
        switch type {
        case .iq1S:
            let high = word(bytes, at: offset + 34 + 2 * group) >> UInt32(3 * row) & 7
            (number, signs) = (Int(UInt32(bytes[offset + 2 + place]) | high << 8), 0)
        case .iq1M:
            let high = bytes[offset + 32 + place / 2] >> UInt8(place % 2 * 4)
            (number, signs) = (Int(bytes[offset + place]) | Int(high & 7) << 8, UInt32(high & 8))
        case .iq2XXS:
            number = Int(bytes[offset + 2 + 8 * group + row])
            signs = even(word32(bytes, at: offset + 6 + 8 * group) >> UInt32(7 * row))
        case .iq2XS:
            let word = word(bytes, at: offset + 2 + 2 * place)
            (number, signs) = (Int(word & 0x1FF), even(word >> 9))
        case .iq2S:
            let high = bytes[offset + 66 + group] >> UInt8(2 * row) & 3
            number = Int(bytes[offset + 2 + place]) | Int(high) << 8
            signs = UInt32(bytes[offset + 34 + place])
        default:
            var high = 0
            if type == .iq3S {
                high = Int(bytes[offset + 66 + group]) >> (2 * row)
                signs = UInt32(bytes[offset + 74 + place])
            } else {
                signs = even(word32(bytes, at: offset + 66 + 4 * group) >> UInt32(7 * row))
            }
            let (first, second) = (bytes[offset + 2 + 2 * place], bytes[offset + 3 + 2 * place])
            return (4 * (Int(first) | (high & 1) << 8), 4 * (Int(second) | (high & 2) << 7), signs)
        }
        return (8 * number, 8 * number + 4, signs)
    }

    /// Seven signs, and an eighth that makes their number even.
    @inline(__always)
    private static func even(_ signs: UInt32) -> UInt32 {
        let seven = signs & 0x7F
        return seven | UInt32(seven.nonzeroBitCount & 1) << 7
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
