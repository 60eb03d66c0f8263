/// Qwen3, but for its mixtures of experts: each head's queries and keys are normed, and the later layers may see a window
/// only.
package struct Qwen3: GatedTransformer, Equatable {
    package static let modelType = "qwen3"
    package static let models = "Qwen3"
    static let hasHeadNorms = true

    package var shape: ModelShape
    /// Rows of the gate and of the up projection.
    package var intermediateSize: Int
    package var normEpsilon: Double
    package var tiedEmbeddings: Bool

    package init(_ config: ConfigReader) throws {
        try config.checkActivation("hidden_act", ["silu"])
        try config.checkFalse("attention_bias")
        // Not hidden_size / heads, where a file does not say.
        shape = try ModelShape(config, rope: RopeFamily(), headDimension: 128)
        try shape.setWindows(config)
        intermediateSize = try config.integer("intermediate_size", 1...ConfigReader.maximumWidth)
        normEpsilon = try config.optionalNumber("rms_norm_eps", 0...1) ?? 1e-6
        tiedEmbeddings = try config.optionalBool("tie_word_embeddings") ?? false
    }
}
