/// Phi-1, Phi-1.5 and Phi-2: attention with partly rotated heads and a feed-forward network
/// side by side, both fed by one LayerNorm. `h` is hidden_size.
///
///     n = layer_norm(x)
///     x += dense(attention(q(n), k(n), v(n))) + fc2(gelu(fc1(n)))
///
/// Every linear layer has a bias, the head too.
package struct Phi2: Architecture, Equatable {
    package static let modelType = "phi"
    package static let models = "Phi-1, Phi-1.5 and Phi-2"
    package static let modules =
        qkv + ["self_attn.dense", "input_layernorm", "mlp.fc1", "mlp.fc2"]
    private static let qkv = ["q", "k", "v"].map { "self_attn.\($0)_proj" }

    package var shape: ModelShape
    package let headBias = true

    package init(_ config: ConfigReader) throws {
        // Two names of GELU's tanh form.
        try config.checkActivation("hidden_act", ["gelu_new", "gelu_pytorch_tanh"])
        try config.checkFalse("qk_layernorm", "tie_word_embeddings")
        shape = try ModelShape(config, rope: RopeFamily(fraction: 0.5), epsilon: ("layer_norm_eps", 1e-5))
    }

    package var rowBytes: Int {
        let widest = max(shape.attention.qkvWidth, intermediateSize)
        // Floats: hidden and normed rows, and results of a matmul and of attention; bytes: the quantized input of a
        // matmul.
        return 4 * (2 * shape.hiddenSize + widest + shape.attention.queryWidth) + widest
    }

    package func layer<Weights: WeightReading>(
        _ number: Int, _ weights: inout Weights
    ) throws -> NetworkLayer<Weights.Operations> {
        let (h, inner, attention) = (shape.hiddenSize, intermediateSize, shape.layers[number])
        let path = "model.layers.\(number)."
        let norm = try self.norm(path + "input_layernorm", &weights)
        func linear(_ name: String, _ rows: Int, _ columns: Int) throws -> Weights.Operations.Linear {
            try weights.linear(path + name, rows, columns, hasBias: true)
        }
        return NetworkLayer(
            norm: norm,
            input: try zip(Self.qkv, attention.widths).map { try linear($0, $1, h) },
            mixer: .attention(nil), output: try linear("self_attn.dense", h, attention.queryWidth),
            feedForward: .dense(
                .normed, up: [try linear("mlp.fc1", inner, h)], .gelu, down: try linear("mlp.fc2", h, inner)))
    }
}
