/// Facts of a model that every engine needs.
package struct ModelShape: Sendable, Equatable {
    /// Floats of a row between two layers.
    package var hiddenSize: Int
    /// Floats of a row within the feed-forward network: rows of the gate and of the up projection.
    package var intermediateSize: Int
    var normEpsilon: Double
    /// Whether the output projection is the embedding's matrix.
    var tiedEmbeddings: Bool
    /// Attention as config.json has it, of all layers in most models.
    package let attention: AttentionShape
    /// Attention of each layer, at least one, as it is computed.
    package var layers: [AttentionShape]
    /// Floats of each layer's recurrent state; empty if no layer has one. Else each sequence keeps its states and windows
    /// in memory of its own, not in blocks.
    package var stateWidths: [Int] = []
    package var rope: Rope
    package var vocabularySize: Int
    /// The longest sequence, in tokens.
    package var contextLength: Int
    package var beginOfSequence: Int32?
    package var endOfSequence: Set<Int32>
    package var padding: Int32?
    /// Nil if no layer is quantized.
    package var quantization: QuantizationConfiguration?

    package var layerCount: Int { layers.count }
}

extension ModelShape {
    /// Reads the keys that all architectures share.
    /// - Parameters:
    ///   - family: nil for models without positions.
    ///   - headDimension: default; nil takes hidden_size / heads.
    ///   - epsilon: key of the norms' epsilon, and its default.
    ///   - isTied: default of `tiedEmbeddings`.
    /// - Throws: `UserError` naming the key.
    init(
        _ config: ConfigReader, rope family: RopeFamily?, headDimension: Int? = nil,
        epsilon: (key: String, standard: Double) = ("rms_norm_eps", 1e-6), isTied: Bool = false
    ) throws {
        hiddenSize = try config.integer("hidden_size", 1...ConfigReader.maximumWidth)
        let layerCount = try config.integer("num_hidden_layers", 1...4096)
        vocabularySize = try config.integer("vocab_size", 1...1 << 24)
        contextLength = try config.integer("max_position_embeddings", 1...Int(Int32.max))
        attention = try AttentionShape(
            config, hiddenSize: hiddenSize, headDimension: headDimension, contextLength: contextLength)
        layers = Array(repeating: attention, count: layerCount)
        rope =
            try family.map { [attention, contextLength] in
                try Rope(
                    config, family: $0, headDimension: attention.headDimension, contextLength: contextLength)
            } ?? Rope(dimension: 0, theta: 1)
        intermediateSize = try config.integer("intermediate_size", 1...ConfigReader.maximumWidth)
        normEpsilon = try config.optionalNumber(epsilon.key, 0...1) ?? epsilon.standard
        tiedEmbeddings = try config.optionalBool("tie_word_embeddings") ?? isTied
        beginOfSequence = try config.optionalToken("bos_token_id")
        padding = try config.optionalToken("pad_token_id")
        endOfSequence = Set(try config.optionalTokens("eos_token_id") ?? [])
        quantization = try QuantizationConfiguration(ofModel: config)
    }
}

extension ModelShape {
    /// Sets the layers with a sliding window as in Qwen's files: those from `max_window_layers` on, or those that
    /// `layer_types` names; none unless `use_sliding_window` is true.
    /// - Throws: `UserError` naming the key.
    mutating func setWindows(_ config: ConfigReader) throws {
        let isUsed = try config.optionalBool("use_sliding_window") ?? false
        let first = try config.integer("max_window_layers", 0...1 << 20, default: 28)
        var areWindows = layers.indices.map { isUsed && $0 >= first }
        if let types = try config.optionalStrings("layer_types") {
            guard types.count == layers.count else {
                throw config.fault(
                    .malformed, "layer_types",
                    "has \(types.count) entries, but there are \(layers.count) layers")
            }
            areWindows = try types.map { type in
                switch type {
                case "full_attention": return false
                case "sliding_attention" where isUsed: return true
                default:
                    throw config.fault(
                        .unsupported, "layer_types",
                        "has \"\(type)\"; \"full_attention\" is supported, and \"sliding_attention\" where "
                            + "\"use_sliding_window\" is true")
                }
            }
        }
        guard !areWindows.contains(true) || config.value("sliding_window") != nil else {
            throw config.fault(.malformed, "sliding_window", "is missing, but \"use_sliding_window\" is true")
        }
        for (number, isWindow) in areWindows.enumerated() where !isWindow {
            layers[number].slidingWindow = nil
        }
    }
}
