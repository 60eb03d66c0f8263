/// Qwen2 and Qwen2.5: queries, keys and values have biases, and the later layers may see a window only.
package struct Qwen2: GatedTransformer, Equatable {
    package static let modelType = "qwen2"
    package static let models = "Qwen2 and Qwen2.5"
    static let hasBiases = true

    package var shape: ModelShape
    /// Rows of the gate and of the up projection.
    package var intermediateSize: Int
    package var normEpsilon: Double
    package var tiedEmbeddings: Bool

    package init(_ config: ConfigReader) throws {
        try config.checkActivation("hidden_act", ["silu"])
        shape = try ModelShape(config, rope: RopeFamily())
        try shape.setWindows(config)
        intermediateSize = try config.integer("intermediate_size", 1...ConfigReader.maximumWidth)
        normEpsilon = try config.optionalNumber("rms_norm_eps", 0...1) ?? 1e-6
        tiedEmbeddings = try config.optionalBool("tie_word_embeddings") ?? false
    }
}
