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
    case q2K = 10
    case q3K = 11
    case q4K = 12
    case q5K = 13
    case q6K = 14
    case iq2XXS = 16
    case iq2XS = 17
    case iq3XXS = 18
    case iq1S = 19
    case iq4NL = 20
    case iq3S = 21
    case iq2S = 22
    case iq4XS = 23
    case iq1M = 29
    case bf16 = 30
    case tq1 = 34
    case tq2 = 35
    case mxfp4 = 39

    /// Values that are stored together.
    var blockLength: Int {
        switch self {
        case .f32, .f16, .bf16: 1
        case .q4Type0, .q4Type1, .q5Type0, .q5Type1, .q8Type0, .iq4NL, .mxfp4: 32
        case .q2K, .q3K, .q4K, .q5K, .q6K, .iq1S, .iq1M, .iq2XXS, .iq2XS, .iq2S, .iq3XXS, .iq3S, .iq4XS, .tq1,
            .tq2:
            256
        }
    }

    /// Groups of 32 values in a block of a quantized type.
    var groupsPerBlock: Int { blockLength / 32 }

    var blockSize: Int {
        switch self {
        case .f32: 4
        case .f16, .bf16: 2
        case .q4Type0: 2 + 16
        case .q4Type1: 4 + 16
        case .q5Type0: 2 + 4 + 16
        case .q5Type1: 4 + 4 + 16
        case .q8Type0: 2 + 32
        case .q2K: 16 + 64 + 4
        case .q3K: 32 + 64 + 12 + 2
        case .q4K: 4 + 12 + 128
        case .q5K: 4 + 12 + 32 + 128
        case .q6K: 128 + 64 + 16 + 2
        case .iq1S: 2 + 32 + 16
        case .iq1M: 32 + 16 + 8
        case .iq2XXS: 2 + 64
        case .iq2XS: 2 + 64 + 8
        case .iq2S: 2 + 32 + 32 + 8 + 8
        case .iq3XXS: 2 + 64 + 32
        case .iq3S: 2 + 64 + 8 + 32 + 4
        case .iq4NL: 2 + 16
        case .iq4XS: 2 + 2 + 4 + 128
        case .tq1: 48 + 4 + 2
        case .tq2: 64 + 2
        case .mxfp4: 1 + 16
        }
    }

    /// Bits of a value's code in MLX's format; nil for the float types.
    var bits: Int? {
        switch self {
        case .f32, .f16, .bf16: nil
        case .tq1, .tq2, .iq1S: 2
        case .q4Type0, .q4Type1, .q4K, .iq3S: 4
        // MXFP4's values are whole numbers from -12 to 12, times the scale.
        case .q5Type0, .q5Type1, .q5K, .mxfp4: 5
        // Up to 31 either way.
        case .iq3XXS: 6
        // Those of Q3_K, IQ1_M, IQ2_XXS and the IQ4 types are whole numbers of 8 bits. The others have a scale for each
        // 16 values, MLX one for 32: only 8 bits come near both.
        case .q8Type0, .q2K, .q3K, .q6K, .iq1M, .iq2XXS, .iq2XS, .iq2S, .iq4NL, .iq4XS: 8
        }
    }

    /// What is subtracted from a code before it is scaled, where the file has no minimum of its own:
    /// value = d * (code - offset). Q8_0's signed bytes become codes by adding 128.
    var offset: Float? {
        switch self {
        case .q4Type0: 8
        case .q5Type0: 16
        case .q8Type0: 128
        default: nil
        }
    }

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
    var isLossless: Bool { ![.q2K, .q6K, .iq2XS, .iq2S].contains(self) }

    package static let supportedNames =
        "F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, "
        + "IQ2_S, IQ3_XXS, IQ3_S, IQ4_NL, IQ4_XS, TQ1_0, TQ2_0 and MXFP4"
}
