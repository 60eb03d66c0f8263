/// `Phi3` as operations of MLX.
struct MLXPhi3: MLXNetwork {
    private struct Layer {
        let attentionNorm: MLXArray
        let qkv, output: MLXLinear
        let feedForwardNorm: MLXArray
        let gateUp, down: MLXLinear
    }

    private let shape: AttentionShape
    private let intermediateSize: Int
    private let epsilon: Float
    private let embedding: MLXMatrix
    private let layers: [Layer]
    private let norm: MLXArray
    private let head: MLXLinear

    init(_ model: Phi3, _ weights: inout MLXWeightReader) throws {
        let (h, inner, vocabulary) = (
            model.shape.hiddenSize, model.intermediateSize, model.shape.vocabularySize
        )
        shape = model.shape.attention
        intermediateSize = inner
        epsilon = Float(model.normEpsilon)
        embedding = try weights.matrix("model.embed_tokens", vocabulary, h)
        head =
            model.tiedEmbeddings
            ? MLXLinear(matrix: embedding) : try weights.linear("lm_head", vocabulary, h)
        layers = try (0..<model.shape.layerCount).map { [shape] number in
            let path = "model.layers.\(number)."
            return Layer(
                attentionNorm: try weights.vector(path + "input_layernorm.weight", h),
                qkv: try weights.linear(path + "self_attn.qkv_proj", shape.qkvWidth, h),
                output: try weights.linear(path + "self_attn.o_proj", h, shape.queryWidth),
                feedForwardNorm: try weights.vector(path + "post_attention_layernorm.weight", h),
                gateUp: try weights.linear(path + "mlp.gate_up_proj", 2 * inner, h),
                down: try weights.linear(path + "mlp.down_proj", h, inner))
        }
        norm = try weights.vector("model.norm.weight", h)
    }

    var element: MLXArray.Element? { embedding.element }

    func hidden(_ step: MLXStep) -> MLXArray {
        let (queries, keys) = (shape.queryWidth, shape.keyWidth)
        var x = embedding.rows(at: step.rows.tokens)
        for (number, layer) in layers.enumerated() {
            let qkv = layer.qkv(x.rmsNorm(layer.attentionNorm, epsilon))
            var attended = step.attend(
                qkv.slice(axis: 1, 0..<queries), qkv.slice(axis: 1, queries..<queries + keys),
                qkv.slice(axis: 1, queries + keys..<queries + 2 * keys), layer: number)
            if number == layers.count - 1 { (x, attended) = (step.kept(x), step.kept(attended)) }
            x = x + layer.output(attended)
            let both = layer.gateUp(x.rmsNorm(layer.feedForwardNorm, epsilon))
            let gate = both.slice(axis: 1, 0..<intermediateSize)
            let up = both.slice(axis: 1, intermediateSize..<2 * intermediateSize)
            x = x + layer.down(gate.silu * up)
        }
        return x.rmsNorm(norm, epsilon)
    }

    func logits(_ hidden: MLXArray) -> MLXArray { head(hidden) }
}
