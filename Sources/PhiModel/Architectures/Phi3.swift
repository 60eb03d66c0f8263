/// Phi-3, Phi-3.5, Phi-4 and Phi-4-mini, with their reasoning models.
package struct Phi3: GatedTransformer, Equatable {
    package static let modelType = "phi3"
    package static let models = "Phi-3, Phi-3.5, Phi-4 and Phi-4-mini"
    static let isFused = true

    package var shape: ModelShape

    package init(_ config: ConfigReader) throws {
        try config.checkActivation("hidden_act", ["silu"])
        try config.checkFalse("attention_bias", "mlp_bias", "lm_head_bias")
        shape = try ModelShape(config, rope: RopeFamily(), epsilon: ("rms_norm_eps", 1e-5))
    }
}
