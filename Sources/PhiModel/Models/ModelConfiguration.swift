import CPhiKernels
import Foundation
import Foundations

/// What config.json (and generation_config.json) of a Phi-3 family model say, checked.
package struct ModelConfiguration: Sendable, Equatable {
    package var hiddenSize: Int
    package var layerCount: Int
    package var headCount: Int
    /// Heads of keys and values; divides `headCount`.
    package var keyValueHeadCount: Int
    /// Dimensions of one head.
    package var headDimension: Int
    /// The first dimensions of each head are rotated; even.
    package var rotaryDimension: Int
    /// Rows of the gate and of the up projection.
    package var intermediateSize: Int
    package var vocabularySize: Int
    package var normEpsilon: Double
    package var ropeTheta: Double
    package var ropeScaling: RopeScaling
    /// The longest sequence, in tokens.
    package var contextLength: Int
    /// A row at position q sees only positions k with q - k < slidingWindow; nil if it sees all.
    /// nil also where the window is not shorter than the context.
    package var slidingWindow: Int?
    /// The output projection is the embedding's matrix.
    package var tiedEmbeddings: Bool
    package var beginOfSequence: Int32?
    package var endOfSequence: Set<Int32>
    package var padding: Int32?
    /// nil if no layer is quantized.
    package var quantization: QuantizationConfiguration?

    /// Rows of the fused qkv projection.
    package var qkvRows: Int { (headCount + 2 * keyValueHeadCount) * headDimension }
    /// Columns of the attention's output projection.
    package var attentionWidth: Int { headCount * headDimension }
}

extension ModelConfiguration {
    private static let maximumFileSize = 64 << 20
    private static let maximumWidth = 1 << 20

    /// Reads config.json of a model folder and, where it is there, generation_config.json, whose
    /// `eos_token_id` replaces config.json's.
    /// - Throws: `ModelError`: `missing`, `malformed` or `unsupported`, naming file and key.
    package init(folder: String) throws {
        try ModelFolder.checkLinks(folder)
        let path = Paths.join(folder, "config.json")
        self = try Self(
            ConfigReader(
                path: path, members: JSONFile.object(path, maximumBytes: Self.maximumFileSize)))
        let generation = Paths.join(folder, "generation_config.json")
        do {
            let reader = ConfigReader(
                path: generation,
                members: try JSONFile.object(generation, maximumBytes: Self.maximumFileSize))
            if let tokens = try reader.optionalTokens("eos_token_id") { endOfSequence = Set(tokens) }
        } catch let error as ModelError where error.kind == .missing {
            // Optional, and then config.json's ids hold. A file that is there and unreadable is a fault.
            if Files.kind(of: generation) != nil { throw error }
        }
    }

    init(_ config: ConfigReader) throws {
        try Self.checkArchitecture(config)
        hiddenSize = try config.integer("hidden_size", 1...Self.maximumWidth)
        layerCount = try config.integer("num_hidden_layers", 1...4096)
        headCount = try config.integer("num_attention_heads", 1...65536)
        keyValueHeadCount = try config.integer("num_key_value_heads", 1...65536, default: headCount)
        intermediateSize = try config.integer("intermediate_size", 1...Self.maximumWidth)
        vocabularySize = try config.integer("vocab_size", 1...1 << 24)
        contextLength = try config.integer("max_position_embeddings", 1...Int(Int32.max))
        normEpsilon = try config.optionalNumber("rms_norm_eps", 0...1) ?? 1e-5
        tiedEmbeddings = try config.optionalBool("tie_word_embeddings") ?? false
        guard headCount % keyValueHeadCount == 0 else {
            throw config.fault(
                .malformed, "num_key_value_heads",
                "is \(keyValueHeadCount), which does not divide \(headCount) heads")
        }
        headDimension = try Self.headDimension(config, hiddenSize: hiddenSize, headCount: headCount)
        guard headDimension <= Int(PHI_KV_MAX_DIMS) else {
            throw config.fault(
                .unsupported, config.value("head_dim") == nil ? "num_attention_heads" : "head_dim",
                "makes heads of \(headDimension) dimensions; the kernels take \(PHI_KV_MAX_DIMS) at most")
        }
        slidingWindow = try config.optionalInteger("sliding_window", 1...Int(Int32.max))
        if let window = slidingWindow, window >= contextLength { slidingWindow = nil }

        let scaling = try Self.ropeScaling(config)
        let fraction = try Self.ropeNumber("partial_rotary_factor", 1e-3...1, config, scaling) ?? 1
        ropeTheta = try Self.ropeNumber("rope_theta", 1...1e12, config, scaling) ?? 10000
        rotaryDimension = Int(Double(headDimension) * fraction)
        guard rotaryDimension >= 2, rotaryDimension % 2 == 0 else {
            throw config.fault(
                .unsupported, "partial_rotary_factor",
                "gives \(rotaryDimension) of \(headDimension) dimensions; an even number from 2 on is needed")
        }
        let original = try config.optionalInteger("original_max_position_embeddings", 1...Int(Int32.max))
        ropeScaling = try RopeScaling(
            scaling, rotaryDimension: rotaryDimension, contextLength: contextLength,
            originalContextLength: original)

        beginOfSequence = try Self.token("bos_token_id", config)
        padding = try Self.token("pad_token_id", config)
        endOfSequence = Set(try config.optionalTokens("eos_token_id") ?? [])
        quantization = try Self.quantization(config)
    }

    private static func checkArchitecture(_ config: ConfigReader) throws {
        guard let type = try config.optionalString("model_type") else {
            throw config.fault(.malformed, "model_type", "is missing; \"phi3\" is supported")
        }
        guard type == "phi3" else {
            throw config.fault(
                .unsupported, "model_type",
                "is \"\(type)\"; \"phi3\" is supported (Phi-3, Phi-3.5, Phi-4 and Phi-4-mini)")
        }
        if let activation = try config.optionalString("hidden_act"), activation != "silu" {
            throw config.fault(.unsupported, "hidden_act", "is \"\(activation)\"; \"silu\" is supported")
        }
        for key in ["attention_bias", "mlp_bias", "lm_head_bias"] where try config.optionalBool(key) == true {
            throw config.fault(.unsupported, key, "is true; only models without it are supported")
        }
    }

    private static func headDimension(_ config: ConfigReader, hiddenSize: Int, headCount: Int) throws -> Int {
        if let given = try config.optionalInteger("head_dim", 1...65536) {
            guard headCount * given <= maximumWidth else {
                throw config.fault(
                    .malformed, "head_dim", "is \(given); with \(headCount) heads that is too much")
            }
            return given
        }
        guard hiddenSize % headCount == 0 else {
            throw config.fault(
                .malformed, "num_attention_heads",
                "is \(headCount), which does not divide hidden_size \(hiddenSize)")
        }
        return hiddenSize / headCount
    }

    /// `rope_scaling`, or `rope_parameters` as newer transformers write it.
    private static func ropeScaling(_ config: ConfigReader) throws -> ConfigReader? {
        let old = try config.optionalObject("rope_scaling")
        let new = try config.optionalObject("rope_parameters")
        if let old, let new, old.members != new.members {
            throw config.fault(
                .malformed, "rope_parameters", "differs from \"rope_scaling\"; keep one of them")
        }
        return old ?? new
    }

    /// A number that stands beside `rope_parameters` in older files and inside it in newer ones.
    private static func ropeNumber(
        _ key: String, _ range: ClosedRange<Double>, _ config: ConfigReader, _ scaling: ConfigReader?
    ) throws -> Double? {
        let outer = try config.optionalNumber(key, range)
        let inner = try scaling?.optionalNumber(key, range)
        if let outer, let inner, outer != inner {
            throw config.fault(.malformed, key, "is \(outer), but within the rope settings it is \(inner)")
        }
        return outer ?? inner
    }

    /// Some configurations write -1 for "none".
    private static func token(_ key: String, _ config: ConfigReader) throws -> Int32? {
        guard let id = try config.optionalInteger(key, -1...Int(Int32.max)), id >= 0 else { return nil }
        return Int32(id)
    }

    private static func quantization(_ config: ConfigReader) throws -> QuantizationConfiguration? {
        let first = try config.optionalObject("quantization").map { try QuantizationConfiguration($0) }
        let second = try config.optionalObject("quantization_config").map {
            try QuantizationConfiguration($0)
        }
        if let first, let second, first != second {
            throw config.fault(
                .malformed, "quantization_config", "differs from \"quantization\"; keep one of them")
        }
        return first ?? second
    }
}
