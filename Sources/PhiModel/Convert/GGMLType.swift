/// Element types of GGUF tensors, by their number in the file
/// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
package enum GGMLType: UInt32 {
    case f32 = 0
    case f16 = 1
    case q4Type0 = 2
    case q4Type1 = 3
    case q5Type0 = 6
    case q5Type1 = 7
    case q8Type0 = 8
    case q4K = 12
    case q5K = 13
    case q6K = 14
    case bf16 = 30

    private var block: (length: Int, size: Int, bits: Int?, offset: Float?) {
        switch self {
        case .f32: (1, 4, nil, nil)
        case .f16, .bf16: (1, 2, nil, nil)
        case .q4Type0: (32, 2 + 16, 4, 8)
        case .q4Type1: (32, 4 + 16, 4, nil)
        case .q5Type0: (32, 2 + 4 + 16, 5, 16)
        case .q5Type1: (32, 4 + 4 + 16, 5, nil)
        case .q8Type0: (32, 2 + 32, 8, 128)
        case .q4K: (256, 4 + 12 + 128, 4, nil)
        case .q5K: (256, 4 + 12 + 32 + 128, 5, nil)
        // It has a scale for each 16 values, MLX one for 32: only 8 bits come near both.
        case .q6K: (256, 128 + 64 + 16 + 2, 8, nil)
        }
    }

    /// Values that are stored together.
    var blockLength: Int { block.length }
    /// Groups of 32 values in a block of a quantized type.
    var groupsPerBlock: Int { blockLength / 32 }
    /// Bytes of a block.
    var blockSize: Int { block.size }
    /// Bits of a value's code in MLX's format; nil for the float types.
    var bits: Int? { block.bits }
    /// Number subtracted from a code before it is scaled, where the file has no minimum of its own:
    /// value = d * (code - offset). Q8_0's signed bytes become codes by adding 128.
    var offset: Float? { block.offset }

    var name: String { Self.name(of: rawValue) }

    /// The type's name, also of those that are not supported, for messages.
    static func name(of number: UInt32) -> String {
        let names: [UInt32: String] = [
            0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 9: "Q8_1",
            10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K", 16: "IQ2_XXS",
            17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS",
            24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 30: "BF16", 34: "TQ1_0",
            35: "TQ2_0", 39: "MXFP4",
        ]
        return names[number] ?? "number \(number)"
    }

    /// Whether MLX's format holds its values exactly.
    var isLossless: Bool { self != .q6K }

    package static let supportedNames =
        "F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K and Q6_K"
}
