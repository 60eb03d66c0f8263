/// Phi-3.5-MoE: pre-norm layers of grouped-query attention with rotary positions, and a feed-forward network of
/// experts, of which each row uses two. `h` is hidden_size.
///
///     x += output(attention(q(n), k(n), v(n))), n = layer_norm(x)
///     x += w1 * expert1(n) + w2 * expert2(n),   n = layer_norm(x)
///     expert(n) = down(silu(gate(n)) * up(n))
///
/// The router's scores say which experts, and `SparseMixer` what becomes of the scores.
package struct PhiMoE: Architecture, Equatable {
    package static let modelType = "phimoe"
    package static let models = "Phi-3.5-MoE"
    /// Hugging Face's experts would have to be stacked.
    package static let modules: [String] = []

    package var shape: ModelShape
    /// Rows of an expert's gate and of its up projection.
    package var intermediateSize: Int
    package var normEpsilon: Double
    package var expertCount: Int
    package var mixer: SparseMixer
    /// The four linear layers of attention have biases.
    package var attentionBias: Bool
    package var headBias: Bool

    package init(_ config: ConfigReader) throws {
        try config.checkActivation("hidden_act", ["silu"])
        try config.checkFalse("tie_word_embeddings")
        shape = try ModelShape(config, rope: RopeFamily(theta: 1e6, statesAttentionFactors: true))
        intermediateSize = try config.integer("intermediate_size", 1...ConfigReader.maximumWidth)
        normEpsilon = try config.optionalNumber("rms_norm_eps", 0...1) ?? 1e-5
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
        // Floats: hidden and normed rows, the router's input and scores, a matmul's results, what attention makes
        // of them; where all rows use one expert, its gate and up, and what the gate makes of them; two experts'
        // results. Bytes: the quantized input of a matmul.
        let floats =
            3 * h + expertCount + max(shape.attention.qkvWidth, h) + queries + 3 * intermediateSize + 2 * h
        return 4 * floats + max(h, queries, intermediateSize)
    }

    package func network(_ weights: inout WeightReader) throws -> any Network {
        let (h, vocabulary) = (shape.hiddenSize, shape.vocabularySize)
        let (queries, keys) = (shape.attention.queryWidth, shape.attention.keyWidth)
        let embedding = try weights.embedding("model.embed_tokens", vocabulary, h)
        let head = try weights.linear("lm_head", vocabulary, h, hasBias: headBias)
        let layers = try (0..<shape.layerCount).map { number in
            let path = "model.layers.\(number)."
            func attention(_ name: String, _ rows: Int, _ columns: Int) throws -> Linear {
                try weights.linear("\(path)self_attn.\(name)", rows, columns, hasBias: attentionBias)
            }
            return PhiMoENetwork.Layer(
                attentionNorm: try weights.layerNorm(path + "input_layernorm", h),
                query: try attention("q_proj", queries, h),
                key: try attention("k_proj", keys, h),
                value: try attention("v_proj", keys, h),
                output: try attention("o_proj", h, queries),
                feedForwardNorm: try weights.layerNorm(path + "post_attention_layernorm", h),
                experts: try experts(path + "block_sparse_moe.", &weights))
        }
        return PhiMoENetwork(
            embedding: embedding, layers: layers, norm: try weights.layerNorm("model.norm", h), head: head,
            epsilon: Float(normEpsilon))
    }

    /// MLX stacks the tensors of all experts; Hugging Face has them one by one.
    private func experts(_ path: String, _ weights: inout WeightReader) throws -> ExpertLayer {
        let (h, inner) = (shape.hiddenSize, intermediateSize)
        let router = try weights.floatLinear(path + "gate", expertCount, h)
        guard !weights.contains(path + "experts.0.w1.weight") else {
            let experts = try (0..<expertCount).map { number in
                let path = "\(path)experts.\(number)."
                return Expert(
                    gate: try weights.linear(path + "w1", inner, h, takesAdapter: false),
                    up: try weights.linear(path + "w3", inner, h, takesAdapter: false),
                    down: try weights.linear(path + "w2", h, inner, takesAdapter: false))
            }
            return ExpertLayer(router: router, experts: experts, mixer: mixer)
        }
        func stack(_ name: String, _ rows: Int, _ columns: Int) throws -> [Linear] {
            try weights.linears(stackedAt: "\(path)switch_mlp.\(name)", expertCount, rows, columns)
        }
        let gates = try stack("gate_proj", inner, h)
        let ups = try stack("up_proj", inner, h)
        let downs = try stack("down_proj", h, inner)
        return ExpertLayer(
            router: router,
            experts: gates.indices.map { Expert(gate: gates[$0], up: ups[$0], down: downs[$0]) },
            mixer: mixer)
    }
}

private struct PhiMoENetwork: Network {
    struct Layer {
        /// [h]
        let attentionNorm: LayerNorm
        /// [heads * head dimension, h]
        let query: Linear
        /// [key and value heads * head dimension, h], both
        let key, value: Linear
        /// [h, heads * head dimension]
        let output: Linear
        /// [h]
        let feedForwardNorm: LayerNorm
        let experts: ExpertLayer
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
            try rows.matmul(
                [layer.query, layer.key, layer.value], of: .layerNorm(layer.attentionNorm, epsilon))
            try rows.attend(layer: number)
            if number == layers.count - 1 { rows.keepRowsWithLogits() }
            try rows.matmul(layer.output, of: .attended)
            rows.addToHidden()
            try rows.mix(layer.experts, of: .layerNorm(layer.feedForwardNorm, epsilon))
            rows.addToHidden()
        }
        rows.makeLogits(head, of: .layerNorm(norm, epsilon))
    }
}
