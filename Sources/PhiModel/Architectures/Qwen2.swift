/// Qwen2 and Qwen2.5: queries, keys and values have biases, and later layers may have a sliding window.
package struct Qwen2: GatedTransformer, Equatable {
    package static let modelType = "qwen2"
    package static let models = "Qwen2 and Qwen2.5"
    static let hasBiases = true

    package var shape: ModelShape

    package init(_ config: ConfigReader) throws {
        try config.checkActivation("hidden_act", ["silu"])
        shape = try ModelShape(config, rope: RopeFamily())
        try shape.setWindows(config)
    }
}
