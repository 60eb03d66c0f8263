/// IQ4_NL, IQ4_XS and MXFP4: 4 bits choose one of 16 whole numbers, which are multiplied by a scale for each 32 values.
/// As whole numbers they are exact in MLX's format.
enum TableBlock {
    /// The levels of llama.cpp's non-linear types.
    private static let nonLinear: [Int8] = [
        -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
    ]
    /// Twice the values of a float of 4 bits: sign, two of exponent, one of mantissa (OCP Microscaling Formats 1.0).
    private static let float4: [Int8] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12]

    /// Codes in the order of the 4 bits.
    private static let nonLinearCodes = nonLinear.map { UInt8(Int($0) + 128) }
    static let float4Codes = float4.map { UInt8(Int($0) + 12) }

    @inline(__always)
    static func affine(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType
    ) -> (scale: Float, bias: Float) {
        if type == .mxfp4 {
            let scale = halfPower(bytes[offset])
            return (scale, -12 * scale)
        }
        var scale = QuantizedBlock.half(bytes, at: offset)
        if type == .iq4XS {
            // Six bits for each group: two in a word in front, four in bytes.
            let low = bytes[offset + 4 + group / 2] >> UInt8(group % 2 * 4) & 0xF
            let high = bytes[offset + 2 + group / 4] >> UInt8(group % 4 * 2) & 3
            scale *= Float(Int(low | high << 4) - 32)
        }
        return (scale, -128 * scale)
    }

    @inline(__always)
    static func codes(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, group: Int, type: GGMLType,
        into codes: UnsafeMutablePointer<UInt8>
    ) {
        let first = type == .mxfp4 ? 1 : type == .iq4NL ? 2 : 8 + 16 * group
        QuantizedBlock.nibbles(bytes, at: offset + first, into: codes)
        (type == .mxfp4 ? float4Codes : nonLinearCodes).withUnsafeBufferPointer { table in
            for index in 0..<32 { codes[index] = table[Int(codes[index])] }
        }
    }

    /// Half of 2^(exponent - 127), what MXFP4's doubled values are multiplied by.
    @inline(__always)
    static func halfPower(_ exponent: UInt8) -> Float {
        exponent < 2
            ? Float(bitPattern: 0x20_0000 << UInt32(exponent))
            : Float(bitPattern: UInt32(exponent - 1) << 23)
    }
}
