/// Architectures of pre-norm layers: grouped-query attention with rotary positions, and a gated feed-forward network.
/// `h` is hidden_size.
///
///     x += output(attention(q(n), k(n), v(n))), n = rms_norm(x)
///     x += down(silu(gate(n)) * up(n)),         n = rms_norm(x)
///
/// They differ in keys of config.json, biases, norms of heads, and in which matrices form one tensor.
protocol GatedTransformer: Architecture {
    /// Whether queries, keys and values are one tensor (qkv_proj), and gate and up another (gate_up_proj).
    static var isFused: Bool { get }
    /// Whether queries, keys and values have biases.
    static var hasBiases: Bool { get }
    /// Whether each head's queries and keys have RMSNorms.
    static var hasHeadNorms: Bool { get }
    /// Whether a matrix may have branches for other inputs than text; its own tensor is then `base_layer`.
    static var hasBranches: Bool { get }
}

extension GatedTransformer {
    static var isFused: Bool { false }
    static var hasBiases: Bool { false }
    static var hasHeadNorms: Bool { false }
    static var hasBranches: Bool { false }
    package static var hasLayerNorms: Bool { false }
    package static var lastNorm: String { "model.norm" }

    package static var modules: [String] {
        let attention = isFused ? ["qkv_proj", "o_proj"] : ["q_proj", "k_proj", "v_proj", "o_proj"]
        let norms = hasHeadNorms ? ["q_norm", "k_norm"] : []
        let feedForward = isFused ? ["gate_up_proj", "down_proj"] : ["gate_proj", "down_proj", "up_proj"]
        let matrices = (attention + norms).map { "self_attn.\($0)" } + feedForward.map { "mlp.\($0)" }
        return (hasBranches ? matrices.flatMap { [$0, $0 + ".base_layer"] } : matrices)
            + ["input_layernorm", "post_attention_layernorm"]
    }

    package func layer<Weights: WeightReading>(
        _ number: Int, _ weights: inout Weights
    ) throws -> NetworkLayer<Weights.Operations> {
        let (h, inner, attention) = (shape.hiddenSize, intermediateSize, shape.layers[number])
        let path = "model.layers.\(number)."
        // Read in this order, in which they are packed.
        let attentionNorm = try norm(path + "input_layernorm", &weights)
        func linear(
            _ name: String, _ rows: Int, _ columns: Int, hasBias: Bool = false
        ) throws -> Weights.Operations.Linear {
            let base = path + name + ".base_layer"
            let isBase = Self.hasBranches && weights.contains(base + ".weight")
            return try weights.linear(isBase ? base : path + name, rows, columns, hasBias: hasBias)
        }
        let (names, widths) =
            Self.isFused ? (["qkv"], [attention.qkvWidth]) : (["q", "k", "v"], attention.widths)
        let qkv = try zip(names, widths).map {
            try linear("self_attn.\($0)_proj", $1, h, hasBias: Self.hasBiases)
        }
        func headNorm(_ name: String) throws -> Weights.Operations.Norm {
            try weights.rmsNorm("\(path)self_attn.\(name)_norm", attention.headDimension, normEpsilon)
        }
        let headNorms = Self.hasHeadNorms ? HeadNorms(query: try headNorm("q"), key: try headNorm("k")) : nil
        let output = try linear("self_attn.o_proj", h, attention.queryWidth)
        let feedForwardNorm = try norm(path + "post_attention_layernorm", &weights)
        let gateUp = try (Self.isFused ? [("gate_up", 2 * inner)] : [("gate", inner), ("up", inner)]).map {
            try linear("mlp.\($0)_proj", $1, h)
        }
        return NetworkLayer(
            norm: attentionNorm, input: qkv, mixer: .attention(headNorms), output: output,
            feedForward: .dense(
                .norm(feedForwardNorm), up: gateUp, .gatedSilu, down: try linear("mlp.down_proj", h, inner)))
    }
}
