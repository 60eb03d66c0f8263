/// Qwen3 without its mixtures of experts: each head's queries and keys are normed, and later layers may have a sliding
/// window.
package struct Qwen3: GatedTransformer, Equatable {
    package static let modelType = "qwen3"
    package static let models = "Qwen3"
    static let hasHeadNorms = true

    package var shape: ModelShape

    package init(_ config: ConfigReader) throws {
        try config.checkActivation("hidden_act", ["silu"])
        try config.checkFalse("attention_bias")
        // The default is not hidden_size / heads.
        shape = try ModelShape(config, rope: RopeFamily(), headDimension: 128)
        try shape.setWindows(config)
    }
}
