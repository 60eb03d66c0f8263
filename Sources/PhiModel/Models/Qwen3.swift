/// Qwen3, but for its mixtures of experts: each head's queries and keys are normed, and the later layers may see a window
/// only.
package struct Qwen3: GatedTransformer, Equatable {
    package static let modelType = "qwen3"
    package static let models = "Qwen3"
    static let hasHeadNorms = true

    package var base: GatedShape

    package init(_ config: ConfigReader) throws {
        try config.checkActivation("hidden_act", ["silu"])
        try config.checkFalse("attention_bias")
        // Not hidden_size / heads, where a file does not say.
        base = try GatedShape(config, headDimension: 128)
        try base.shape.setWindows(config)
    }
}
