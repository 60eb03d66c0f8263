/// What the engine needs to know of a model, whatever its architecture.
package struct ModelShape: Sendable, Equatable {
    /// Floats of a row between two layers.
    package var hiddenSize: Int
    package var layerCount: Int
    package var attention: AttentionShape
    package var rope: Rope
    package var vocabularySize: Int
    /// The longest sequence, in tokens.
    package var contextLength: Int
    package var beginOfSequence: Int32?
    package var endOfSequence: Set<Int32>
    package var padding: Int32?
    /// nil if no layer is quantized.
    package var quantization: QuantizationConfiguration?
}

extension ModelShape {
    /// The keys that all architectures have in common.
    /// - Throws: `ModelError` naming the key.
    init(_ config: ConfigReader, rope family: RopeFamily) throws {
        hiddenSize = try config.integer("hidden_size", 1...ConfigReader.maximumWidth)
        layerCount = try config.integer("num_hidden_layers", 1...4096)
        vocabularySize = try config.integer("vocab_size", 1...1 << 24)
        contextLength = try config.integer("max_position_embeddings", 1...Int(Int32.max))
        attention = try AttentionShape(config, hiddenSize: hiddenSize, contextLength: contextLength)
        rope = try Rope(
            config, family: family, headDimension: attention.headDimension, contextLength: contextLength)
        beginOfSequence = try config.optionalToken("bos_token_id")
        padding = try config.optionalToken("pad_token_id")
        endOfSequence = Set(try config.optionalTokens("eos_token_id") ?? [])
        quantization = try QuantizationConfiguration(ofModel: config)
    }
}
