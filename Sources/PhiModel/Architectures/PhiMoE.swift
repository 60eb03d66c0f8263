/// Phi-3.5-MoE, Phi-mini-MoE and Phi-tiny-MoE: pre-norm layers of grouped-query attention with rotary positions, and a
/// feed-forward network of experts, of which each row uses two. `h` is hidden_size.
///
///     x += output(attention(q(n), k(n), v(n))), n = layer_norm(x)
///     x += w1 * expert1(n) + w2 * expert2(n),   n = layer_norm(x)
///     expert(n) = down(silu(gate(n)) * up(n))
///
/// The router's scores select the experts, and `SparseMixer` turns the scores into weights.
package struct PhiMoE: Architecture, Equatable {
    package static let modelType = "phimoe"
    package static let models = "Phi-3.5-MoE, Phi-mini-MoE and Phi-tiny-MoE"
    package static let lastNorm = "model.norm"
    package static let modules =
        ["q_proj", "k_proj", "v_proj", "o_proj"].map { "self_attn.\($0)" }
        + ["gate", "switch_mlp.gate_proj", "switch_mlp.up_proj", "switch_mlp.down_proj"]
        .map { "block_sparse_moe.\($0)" } + ["input_layernorm", "post_attention_layernorm"]

    package var shape: ModelShape
    package var expertCount: Int
    package var mixer: SparseMixer
    /// The four linear layers of attention have biases.
    package var attentionBias: Bool
    package var headBias: Bool

    package init(_ config: ConfigReader) throws {
        try config.checkActivation("hidden_act", ["silu"])
        try config.checkFalse("tie_word_embeddings")
        shape = try ModelShape(
            config, rope: RopeFamily(theta: 1e6, statesAttentionFactors: true),
            epsilon: ("rms_norm_eps", 1e-5))
        attentionBias = try config.optionalBool("attention_bias") ?? false
        headBias = try config.optionalBool("lm_head_bias") ?? false
        expertCount = try config.integer("num_local_experts", 2...1024, default: 16)
        let used = try config.integer("num_experts_per_tok", 1...1024, default: 2)
        guard used == 2 else {
            throw config.fault(
                .unsupported, "num_experts_per_tok", "is \(used); only models with 2 are supported")
        }
        mixer = SparseMixer(
            jitter: Float(try config.optionalNumber("router_jitter_noise", 0...1) ?? 0.01))
    }

    package var rowBytes: Int {
        let (h, queries) = (shape.hiddenSize, shape.attention.queryWidth)
        // Floats: hidden and normed rows, the router's input and scores, results of a matmul and of attention; if all
        // rows use one expert, its gate and up, and the activated gate; two experts' results. Bytes: the quantized
        // input of a matmul.
        let floats =
            3 * h + expertCount + max(shape.attention.qkvWidth, h) + queries + 3 * intermediateSize + 2 * h
        return 4 * floats + max(h, queries, intermediateSize)
    }

    package func layer<Weights: WeightReading>(
        _ number: Int, _ weights: inout Weights
    ) throws -> NetworkLayer<Weights.Operations> {
        let (h, attention) = (shape.hiddenSize, shape.layers[number])
        let path = "model.layers.\(number)."
        let attentionNorm = try norm(path + "input_layernorm", &weights)
        func linear(_ name: String, _ rows: Int, _ columns: Int) throws -> Weights.Operations.Linear {
            try weights.linear("\(path)self_attn.\(name)", rows, columns, hasBias: attentionBias)
        }
        let areApart = weights.contains(path + "block_sparse_moe.experts.0.w1.weight")
        return NetworkLayer(
            norm: attentionNorm,
            input: try zip(["q_proj", "k_proj", "v_proj"], attention.widths).map { try linear($0, $1, h) },
            mixer: .attention(nil), output: try linear("o_proj", h, attention.queryWidth),
            feedForward: .experts(
                .norm(try norm(path + "post_attention_layernorm", &weights)),
                try weights.experts(experts(path + "block_sparse_moe.", areApart: areApart))))
    }

    /// Hugging Face stores each expert's tensors; MLX stacks them.
    private func experts(_ path: String, areApart: Bool) -> ExpertTensors {
        func place(_ stacked: String, _ apart: String) -> ExpertTensors.Destination {
            let stack = "\(path)switch_mlp.\(stacked)"
            return areApart
                ? .apart((0..<expertCount).map { "\(path)experts.\($0).\(apart)" }, stack: stack)
                : .stacked(stack)
        }
        return ExpertTensors(
            router: path + "gate", count: expertCount, gate: place("gate_proj", "w1"),
            up: place("up_proj", "w3"), down: place("down_proj", "w2"), hiddenSize: shape.hiddenSize,
            intermediateSize: intermediateSize, mixer: mixer)
    }
}
