/// `Phi2` as operations of MLX.
struct MLXPhi2: MLXNetwork {
    private struct Layer {
        let norm: MLXLayerNorm
        let query, key, value, dense, fc1, fc2: MLXLinear
    }

    private let embedding: MLXMatrix
    private let layers: [Layer]
    private let norm: MLXLayerNorm
    private let head: MLXLinear

    init(_ model: Phi2, _ weights: inout MLXWeightReader) throws {
        let (h, inner, vocabulary) = (
            model.shape.hiddenSize, model.intermediateSize, model.shape.vocabularySize
        )
        let (queries, keys) = (model.shape.attention.queryWidth, model.shape.attention.keyWidth)
        embedding = try weights.matrix("model.embed_tokens", vocabulary, h)
        head = try weights.linear("lm_head", vocabulary, h, hasBias: true)
        layers = try (0..<model.shape.layerCount).map { number in
            let path = "model.layers.\(number)."
            func linear(_ name: String, _ rows: Int, _ columns: Int) throws -> MLXLinear {
                try weights.linear(path + name, rows, columns, hasBias: true)
            }
            return Layer(
                norm: try weights.layerNorm(path + "input_layernorm", h, model.normEpsilon),
                query: try linear("self_attn.q_proj", queries, h),
                key: try linear("self_attn.k_proj", keys, h),
                value: try linear("self_attn.v_proj", keys, h),
                dense: try linear("self_attn.dense", h, queries),
                fc1: try linear("mlp.fc1", inner, h), fc2: try linear("mlp.fc2", h, inner))
        }
        norm = try weights.layerNorm("model.final_layernorm", h, model.normEpsilon)
    }

    var element: MLXArray.Element? { embedding.element }

    func hidden(_ step: MLXStep) -> MLXArray {
        var x = embedding.rows(at: step.rows.tokens)
        for (number, layer) in layers.enumerated() {
            var n = layer.norm(x)
            var attended = step.attend(layer.query(n), layer.key(n), layer.value(n), layer: number)
            if number == layers.count - 1 {
                (x, n, attended) = (step.kept(x), step.kept(n), step.kept(attended))
            }
            x = x + layer.dense(attended) + layer.fc2(layer.fc1(n).gelu)
        }
        return norm(x)
    }

    func logits(_ hidden: MLXArray) -> MLXArray { head(hidden) }
}
