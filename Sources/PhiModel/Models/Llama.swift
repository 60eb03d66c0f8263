/// Llama 2, Llama 3, and models that are built like them, as SmolLM2.
package struct Llama: GatedTransformer, Equatable {
    package static let modelType = "llama"
    package static let models = "Llama 2 and 3, SmolLM2"

    package var shape: ModelShape
    /// Rows of the gate and of the up projection.
    package var intermediateSize: Int
    package var normEpsilon: Double
    package var tiedEmbeddings: Bool

    package init(_ config: ConfigReader) throws {
        try config.checkActivation("hidden_act", ["silu"])
        try config.checkFalse("attention_bias", "mlp_bias", "rope_interleaved")
        try config.checkAbsent("sliding_window")
        shape = try ModelShape(config, rope: RopeFamily())
        intermediateSize = try config.integer("intermediate_size", 1...ConfigReader.maximumWidth)
        normEpsilon = try config.optionalNumber("rms_norm_eps", 0...1) ?? 1e-6
        tiedEmbeddings = try config.optionalBool("tie_word_embeddings") ?? false
    }
}
