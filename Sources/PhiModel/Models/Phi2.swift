/// Phi-2 (and Phi-1, Phi-1.5, which are built alike): attention with partly rotated heads and a feed-forward network
/// side by side, both fed by one LayerNorm. `h` is hidden_size.
///
///     n = layer_norm(x)
///     x += dense(attention(q(n), k(n), v(n))) + fc2(gelu(fc1(n)))
///
/// Every linear layer has a bias, the head too.
package struct Phi2: Architecture, Equatable {
    package static let modelType = "phi"
    package static let models = "Phi-2"
    package static let modules = [
        "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.dense", "input_layernorm",
        "mlp.fc1", "mlp.fc2",
    ]

    package var shape: ModelShape
    /// Rows of fc1.
    package var intermediateSize: Int
    package var normEpsilon: Double

    package init(_ config: ConfigReader) throws {
        // Two names of GELU's tanh form.
        try config.checkActivation("hidden_act", ["gelu_new", "gelu_pytorch_tanh"])
        try config.checkFalse("qk_layernorm", "tie_word_embeddings")
        shape = try ModelShape(config, rope: RopeFamily(fraction: 0.5))
        intermediateSize = try config.integer("intermediate_size", 1...ConfigReader.maximumWidth)
        normEpsilon = try config.optionalNumber("layer_norm_eps", 0...1) ?? 1e-5
    }

    package var rowBytes: Int {
        let widest = max(shape.attention.qkvWidth, intermediateSize)
        // Floats: hidden and normed rows, a matmul's results, what attention makes of them; bytes: the quantized
        // input of a matmul.
        return 4 * (2 * shape.hiddenSize + widest + shape.attention.queryWidth) + widest
    }

    package func network(_ weights: inout WeightReader) throws -> any Network {
        let (h, inner, vocabulary) = (shape.hiddenSize, intermediateSize, shape.vocabularySize)
        let attention = shape.attention
        let embedding = try weights.embedding("model.embed_tokens", vocabulary, h)
        let head = try weights.linear("lm_head", vocabulary, h, hasBias: true)
        let layers = try (0..<shape.layerCount).map { number in
            let path = "model.layers.\(number)."
            return Phi2Network.Layer(
                norm: try weights.layerNorm(path + "input_layernorm", h),
                query: try weights.linear(path + "self_attn.q_proj", attention.queryWidth, h, hasBias: true),
                key: try weights.linear(path + "self_attn.k_proj", attention.keyWidth, h, hasBias: true),
                value: try weights.linear(path + "self_attn.v_proj", attention.keyWidth, h, hasBias: true),
                dense: try weights.linear(path + "self_attn.dense", h, attention.queryWidth, hasBias: true),
                fc1: try weights.linear(path + "mlp.fc1", inner, h, hasBias: true),
                fc2: try weights.linear(path + "mlp.fc2", h, inner, hasBias: true))
        }
        return Phi2Network(
            embedding: embedding, layers: layers, norm: try weights.layerNorm("model.final_layernorm", h),
            head: head, epsilon: Float(normEpsilon))
    }
}

private struct Phi2Network: Network {
    struct Layer {
        /// [h]
        let norm: LayerNorm
        /// [heads * head dimension, h]
        let query: Linear
        /// [key and value heads * head dimension, h], both
        let key, value: Linear
        /// [h, heads * head dimension]
        let dense: Linear
        /// [intermediate size, h]
        let fc1: Linear
        /// [h, intermediate size]
        let fc2: Linear
    }

    /// [vocabulary, h]
    let embedding: Embedding
    let layers: [Layer]
    /// [h]
    let norm: LayerNorm
    /// [vocabulary, h]
    let head: Linear
    let epsilon: Float

    func forward(_ rows: RowOps) throws(ModelError) {
        try rows.embed(embedding)
        for (number, layer) in layers.enumerated() {
            try rows.matmul([layer.query, layer.key, layer.value], of: .layerNorm(layer.norm, epsilon))
            try rows.attend(layer: number)
            if number == layers.count - 1 { rows.keepRowsWithLogits() }
            try rows.matmul(layer.dense, of: .attended)
            rows.addToHidden()
            try rows.matmul(layer.fc1, of: .normed)
            try rows.matmul(layer.fc2, of: .gelu)
            rows.addToHidden()
        }
        rows.makeLogits(head, of: .layerNorm(norm, epsilon))
    }
}
