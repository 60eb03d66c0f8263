/// Phi-3, Phi-3.5, Phi-4 and Phi-4-mini: pre-norm layers of grouped-query attention with rotary positions, and a
/// gated feed-forward network. `h` is hidden_size.
///
///     x += output(attention(qkv(rms_norm(x))))
///     x += down(silu(gate(rms_norm(x))) * up(rms_norm(x)))
package struct Phi3: Architecture, Equatable {
    package static let modelType = "phi3"
    package static let models = "Phi-3, Phi-3.5, Phi-4 and Phi-4-mini"
    package static let modules = [
        "self_attn.qkv_proj", "self_attn.o_proj", "mlp.gate_up_proj", "mlp.down_proj", "input_layernorm",
        "post_attention_layernorm",
    ]

    package var shape: ModelShape
    /// Rows of the gate and of the up projection.
    package var intermediateSize: Int
    package var normEpsilon: Double
    /// The output projection is the embedding's matrix.
    package var tiedEmbeddings: Bool

    package init(_ config: ConfigReader) throws {
        try config.checkActivation("hidden_act", ["silu"])
        try config.checkFalse("attention_bias", "mlp_bias", "lm_head_bias")
        shape = try ModelShape(config, rope: RopeFamily())
        intermediateSize = try config.integer("intermediate_size", 1...ConfigReader.maximumWidth)
        normEpsilon = try config.optionalNumber("rms_norm_eps", 0...1) ?? 1e-5
        tiedEmbeddings = try config.optionalBool("tie_word_embeddings") ?? false
    }

    package var rowBytes: Int {
        let widest = max(shape.attention.qkvWidth, 2 * intermediateSize)
        // Floats: hidden and normed rows, a matmul's results, what attention and the gate make of them; bytes:
        // the quantized input of a matmul.
        return 4 * (2 * shape.hiddenSize + widest + intermediateSize) + widest
    }

    package func network(_ weights: inout WeightReader) throws -> any Network {
        let (h, inner, vocabulary) = (shape.hiddenSize, intermediateSize, shape.vocabularySize)
        let attention = shape.attention
        let embedding = try weights.embedding("model.embed_tokens", vocabulary, h)
        let head =
            tiedEmbeddings ? weights.linear(tiedTo: embedding) : try weights.linear("lm_head", vocabulary, h)
        let layers = try (0..<shape.layerCount).map { number in
            let path = "model.layers.\(number)."
            return Phi3Network.Layer(
                attentionNorm: try weights.vector(path + "input_layernorm.weight", h),
                qkv: try weights.linear(path + "self_attn.qkv_proj", attention.qkvWidth, h),
                output: try weights.linear(path + "self_attn.o_proj", h, attention.queryWidth),
                feedForwardNorm: try weights.vector(path + "post_attention_layernorm.weight", h),
                gateUp: try weights.linear(path + "mlp.gate_up_proj", 2 * inner, h),
                down: try weights.linear(path + "mlp.down_proj", h, inner))
        }
        return Phi3Network(
            embedding: embedding, layers: layers, norm: try weights.vector("model.norm.weight", h),
            head: head,
            epsilon: Float(normEpsilon))
    }
}

private struct Phi3Network: Network {
    struct Layer {
        /// [h]
        let attentionNorm: [Float]
        /// [queries, keys and values by heads, h]
        let qkv: Linear
        /// [h, heads * head dimension]
        let output: Linear
        /// [h]
        let feedForwardNorm: [Float]
        /// [gate, then up, h]
        let gateUp: Linear
        /// [h, intermediate size]
        let down: Linear
    }

    /// [vocabulary, h]
    let embedding: Embedding
    let layers: [Layer]
    /// [h]
    let norm: [Float]
    /// [vocabulary, h]
    let head: Linear
    let epsilon: Float

    func forward(_ rows: RowOps) throws(ModelError) {
        try rows.embed(embedding)
        for (number, layer) in layers.enumerated() {
            try rows.matmul(layer.qkv, of: .rmsNorm(layer.attentionNorm, epsilon))
            try rows.attend(layer: number)
            if number == layers.count - 1 { rows.keepRowsWithLogits() }
            try rows.matmul(layer.output, of: .attended)
            rows.addToHidden()
            try rows.matmul(layer.gateUp, of: .rmsNorm(layer.feedForwardNorm, epsilon))
            try rows.matmul(layer.down, of: .gatedSilu)
            rows.addToHidden()
        }
        rows.makeLogits(head, of: .rmsNorm(norm, epsilon))
    }
}
