/// `PhiMoE` as operations of MLX.
struct MLXPhiMoE: MLXNetwork {
    private struct Layer {
        let attentionNorm: MLXLayerNorm
        let query, key, value, output: MLXLinear
        let feedForwardNorm: MLXLayerNorm
        /// In float32: its results decide something.
        let router: MLXMatrix
        /// Stacks of all experts.
        let gate, up, down: MLXMatrix
    }

    private let embedding: MLXMatrix
    private let layers: [Layer]
    private let norm: MLXLayerNorm
    private let head: MLXLinear
    private let jitter: Float
    /// [experts]: their numbers.
    private let numbers: MLXArray

    init(_ model: PhiMoE, _ weights: inout MLXWeightReader) throws {
        let (h, vocabulary) = (model.shape.hiddenSize, model.shape.vocabularySize)
        let (queries, keys) = (model.shape.attention.queryWidth, model.shape.attention.keyWidth)
        embedding = try weights.matrix("model.embed_tokens", vocabulary, h)
        head = try weights.linear("lm_head", vocabulary, h, hasBias: model.headBias)
        layers = try (0..<model.shape.layerCount).map { number in
            let path = "model.layers.\(number)."
            func attention(_ name: String, _ rows: Int, _ columns: Int) throws -> MLXLinear {
                try weights.linear("\(path)self_attn.\(name)", rows, columns, hasBias: model.attentionBias)
            }
            let moe = path + "block_sparse_moe."
            func stack(_ name: String, _ short: String, _ rows: Int, _ columns: Int) throws -> MLXMatrix {
                guard weights.contains(moe + "experts.0.w1.weight") else {
                    return try weights.stack("\(moe)switch_mlp.\(name)", model.expertCount, rows, columns)
                }
                let paths = (0..<model.expertCount).map { "\(moe)experts.\($0).\(short)" }
                return try weights.stack(paths, rows, columns)
            }
            return Layer(
                attentionNorm: try weights.layerNorm(path + "input_layernorm", h, model.normEpsilon),
                query: try attention("q_proj", queries, h), key: try attention("k_proj", keys, h),
                value: try attention("v_proj", keys, h), output: try attention("o_proj", h, queries),
                feedForwardNorm: try weights.layerNorm(
                    path + "post_attention_layernorm", h, model.normEpsilon),
                router: try weights.matrix(moe + "gate", model.expertCount, h).float32,
                gate: try stack("gate_proj", "w1", model.intermediateSize, h),
                up: try stack("up_proj", "w3", model.intermediateSize, h),
                down: try stack("down_proj", "w2", h, model.intermediateSize))
        }
        norm = try weights.layerNorm("model.norm", h, model.normEpsilon)
        jitter = model.mixer.jitter
        numbers = .integers(weights.mlx, (0..<model.expertCount).map(Int32.init))
    }

    var element: MLXArray.Element? { embedding.element }

    func hidden(_ step: MLXStep) -> MLXArray {
        var x = embedding.rows(at: step.rows.tokens)
        for (number, layer) in layers.enumerated() {
            let n = layer.attentionNorm(x)
            var attended = step.attend(layer.query(n), layer.key(n), layer.value(n), layer: number)
            if number == layers.count - 1 { (x, attended) = (step.kept(x), step.kept(attended)) }
            x = x + layer.output(attended)
            x = x + mixed(layer.feedForwardNorm(x), layer)
        }
        return norm(x)
    }

    func logits(_ hidden: MLXArray) -> MLXArray { head(hidden) }

    /// What its two experts make of each row, by `SparseMixer`'s rule.
    private func mixed(_ x: MLXArray, _ layer: Layer) -> MLXArray {
        let (rows, h) = (x.dimension(0), x.dimension(1))
        let scores = layer.router.multiplied(by: x.converted(to: .f32))
        let nothing = scores.scalar(-.infinity)
        let first = scores.placeOfLargest
        let others = numbers.isEqual(to: first.converted(to: .i32)).select(nothing, scores)
        let second = others.placeOfLargest
        func weight(_ left: MLXArray) -> MLXArray {
            let top = left.largest
            // Of scores that are left out, too; their part of the sum is zero either way.
            let distance = (top - scores) / scores.magnitude.maximum(top)
            let isFar = distance.isGreater(than: scores.scalar(Double(2 * jitter)))
            let part = (isFar.select(nothing, left) - top).exponential
            return scores.scalar(1) / part.sum
        }
        let experts = MLXArray.concatenated([first, second], axis: 1)
        let weights = MLXArray.concatenated([weight(scores), weight(others)], axis: 1)
        let input = x.reshaped(rows, 1, 1, h)
        let gate = layer.gate.multiplied(by: input, matrices: experts)
        let up = layer.up.multiplied(by: input, matrices: experts)
        let made = layer.down.multiplied(by: gate.silu * up, matrices: experts).reshaped(rows, 2, h)
        let weighted = made.converted(to: .f32) * weights.reshaped(rows, 2, 1)
        let sum = weighted.slice(axis: 1, 0..<1) + weighted.slice(axis: 1, 1..<2)
        return sum.reshaped(rows, h).converted(to: x.element ?? .f32)
    }
}
