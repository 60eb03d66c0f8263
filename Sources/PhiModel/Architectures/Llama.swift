/// Llama 2, Llama 3, and models of the same structure, such as SmolLM2.
package struct Llama: GatedTransformer, Equatable {
    package static let modelType = "llama"
    package static let models = "Llama 2 and 3, SmolLM2"

    package var shape: ModelShape

    package init(_ config: ConfigReader) throws {
        try config.checkActivation("hidden_act", ["silu"])
        try config.checkFalse("attention_bias", "mlp_bias", "rope_interleaved")
        try config.checkAbsent("sliding_window")
        shape = try ModelShape(config, rope: RopeFamily())
    }
}
