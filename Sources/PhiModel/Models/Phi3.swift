/// Phi-3, Phi-3.5, Phi-4 and Phi-4-mini, with their reasoning models.
package struct Phi3: GatedTransformer, Equatable {
    package static let modelType = "phi3"
    package static let models = "Phi-3, Phi-3.5, Phi-4 and Phi-4-mini"
    static let isFused = true

    package var shape: ModelShape
    /// Rows of the gate and of the up projection.
    package var intermediateSize: Int
    package var normEpsilon: Double
    package var tiedEmbeddings: Bool

    package init(_ config: ConfigReader) throws {
        try config.checkActivation("hidden_act", ["silu"])
        try config.checkFalse("attention_bias", "mlp_bias", "lm_head_bias")
        shape = try ModelShape(config, rope: RopeFamily())
        intermediateSize = try config.integer("intermediate_size", 1...ConfigReader.maximumWidth)
        normEpsilon = try config.optionalNumber("rms_norm_eps", 0...1) ?? 1e-5
        tiedEmbeddings = try config.optionalBool("tie_word_embeddings") ?? false
    }
}
