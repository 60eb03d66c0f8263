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
    package static let modules = Phi2Names.standard.modules

    package var shape: ModelShape
    /// Rows of fc1.
    package var intermediateSize: Int
    package var normEpsilon: Double
    /// What the tensors are called.
    var names = Phi2Names.standard

    package init(_ config: ConfigReader) throws {
        try self.init(config, rotaryFraction: 0.5, intermediateSize: nil)
    }

    /// - Parameters:
    ///   - rotaryFraction: the part of each head that is rotated where config.json does not say.
    ///   - intermediateSize: rows of fc1 where config.json does not say; nil if it must.
    init(_ config: ConfigReader, rotaryFraction: Double, intermediateSize standard: Int?) throws {
        // Two names of GELU's tanh form.
        try config.checkActivation("hidden_act", ["gelu_new", "gelu_pytorch_tanh"])
        try config.checkFalse("qk_layernorm", "tie_word_embeddings")
        shape = try ModelShape(config, rope: RopeFamily(fraction: rotaryFraction))
        intermediateSize = try config.integer(
            "intermediate_size", 1...ConfigReader.maximumWidth, default: standard)
        normEpsilon = try config.optionalNumber("layer_norm_eps", 0...1) ?? 1e-5
    }

    package var rowBytes: Int {
        let widest = max(shape.attention.qkvWidth, intermediateSize)
        // Floats: hidden and normed rows, a matmul's results, what attention makes of them; bytes: the quantized
        // input of a matmul.
        return 4 * (2 * shape.hiddenSize + widest + shape.attention.queryWidth) + widest
    }

    package func network<Weights: WeightReading>(
        _ weights: inout Weights
    ) throws -> any Network<Weights.Operations> {
        let (h, vocabulary) = (shape.hiddenSize, shape.vocabularySize)
        let embedding = try weights.embedding(names.embedding, vocabulary, h)
        let head = try weights.linear(names.head, vocabulary, h, hasBias: true)
        let layers = try shape.layers.indices.map { try layer($0, &weights) }
        return LayeredNetwork(
            embedding: embedding, layers: layers,
            norm: try weights.layerNorm(names.lastNorm, h, normEpsilon), head: head)
    }

    private func layer<Weights: WeightReading>(
        _ number: Int, _ weights: inout Weights
    ) throws -> NetworkLayer<Weights.Operations> {
        let (h, inner, attention) = (shape.hiddenSize, intermediateSize, shape.layers[number])
        let path = "\(names.layers).\(number)."
        let norm = try weights.layerNorm(path + names.norm, h, normEpsilon)
        func linear(_ name: String, _ rows: Int, _ columns: Int) throws -> Weights.Operations.Linear {
            try weights.linear(path + name, rows, columns, hasBias: true)
        }
        return NetworkLayer(
            norm: norm,
            input: names.qkv.count == 1
                ? [try linear(names.qkv[0], attention.qkvWidth, h)]
                : try zip(names.qkv, attention.widths).map { try linear($0, $1, h) },
            mixer: .attention(nil), output: try linear(names.dense, h, attention.queryWidth),
            feedForward: .dense(
                .normed, up: [try linear("mlp.fc1", inner, h)], .gelu, down: try linear("mlp.fc2", h, inner)))
    }
}

/// What the tensors of Phi-1, Phi-1.5 and Phi-2 are called.
struct Phi2Names: Equatable {
    var embedding, layers, norm: String
    /// Queries, keys and values, as one tensor or three.
    var qkv: [String]
    var dense, lastNorm, head: String

    static let standard = Phi2Names(
        embedding: "model.embed_tokens", layers: "model.layers", norm: "input_layernorm",
        qkv: ["q", "k", "v"].map { "self_attn.\($0)_proj" }, dense: "self_attn.dense",
        lastNorm: "model.final_layernorm", head: "lm_head")

    /// A layer's, in MLX's order.
    var modules: [String] { qkv + [dense, norm, "mlp.fc1", "mlp.fc2"] }
}
