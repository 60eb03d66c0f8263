/// Phi-1.5 and Phi-2 as they were published before transformers had them, and what was made of those: other keys and
/// other names of tensors, and queries, keys and values in one.
package struct EarlyPhi2: Architecture, Equatable {
    package static let modelType = "phi-msft"
    package static let models = "early files of Phi-1.5 and Phi-2"
    package static let modules = names.modules

    private static let keys = [
        "hidden_size": "n_embd", "num_hidden_layers": "n_layer", "num_attention_heads": "n_head",
        "num_key_value_heads": "n_head_kv", "intermediate_size": "n_inner",
        "max_position_embeddings": "n_positions", "hidden_act": "activation_function",
        "layer_norm_eps": "layer_norm_epsilon",
    ]
    private static let names = Phi2Names(
        embedding: "transformer.embd.wte", layers: "transformer.h", norm: "ln", qkv: ["mixer.Wqkv"],
        dense: "mixer.out_proj", lastNorm: "lm_head.ln", head: "lm_head.linear")

    private var phi: Phi2

    package init(_ config: ConfigReader) throws {
        var config = config
        config.names = Self.keys
        let hidden = try config.integer("hidden_size", 1...ConfigReader.maximumWidth)
        let heads = try config.integer("num_attention_heads", 1...65536)
        let rotary = try config.integer("rotary_dim", 2...65536)
        guard rotary % 2 == 0, rotary <= hidden / heads else {
            throw config.fault(
                .malformed, "rotary_dim",
                "is \(rotary); an even number up to a head's \(hidden / heads) is needed")
        }
        phi = try Phi2(config, rotaryFraction: 1, intermediateSize: 4 * hidden)
        phi.shape.rope.dimension = rotary
        phi.names = Self.names
    }

    package var shape: ModelShape {
        get { phi.shape }
        set { phi.shape = newValue }
    }
    package var intermediateSize: Int { phi.intermediateSize }
    package var rowBytes: Int { phi.rowBytes }

    package func network<Weights: WeightReading>(
        _ weights: inout Weights
    ) throws -> any Network<Weights.Operations> {
        try phi.network(&weights)
    }
}
