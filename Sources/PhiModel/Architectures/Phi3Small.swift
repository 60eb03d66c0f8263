/// Phi-3-small: pre-norm layers of attention with rotary positions, block-sparse in most layers, and a gated
/// feed-forward network. `h` is hidden_size.
///
///     x = embedding * mup_embedding_multiplier
///     x += dense(attention(q(n), k(n), v(n))), n = layer_norm(x)
///     x += down(gegelu(up(n))),                n = layer_norm(x)
///     logits = embedding(layer_norm(x)) / mup_width_multiplier
///
/// Every linear layer has a bias, except the output's, which is the embedding's matrix.
package struct Phi3Small: Architecture, Equatable {
    package static let modelType = "phi3small"
    package static let models = "Phi-3-small"
    package static let modules = [
        "self_attn.query_key_value", "self_attn.dense", "mlp.up_proj", "mlp.down_proj", "input_layernorm",
        "post_attention_layernorm",
    ]
    private static let keys = [
        "intermediate_size": "ff_intermediate_size", "layer_norm_eps": "layer_norm_epsilon",
        "rope_theta": "rope_embedding_base",
    ]
    /// Tokens without text in the tokenizer; their logits are masked.
    private static let dummies =
        [100_256, 100_258, 100_259, 100_260, 100_264, 100_265] + Array(100_267..<100_352)

    package var shape: ModelShape
    /// Limit to which gate and up are clamped.
    var limit: Float
    package var embeddingMultiplier: Float
    var widthMultiplier: Float
    package var lastNormFactor: Float { 1 / widthMultiplier }

    package init(_ config: ConfigReader) throws {
        var config = config
        config.names = Self.keys
        try config.checkActivation("hidden_act", ["gegelu"])
        guard try config.optionalBool("tie_word_embeddings") ?? true else {
            throw config.fault(
                .unsupported, "tie_word_embeddings", "is false; only models with it are supported")
        }
        if let scale = try config.optionalNumber("rope_position_scale", 0...1e6), scale != 1 {
            throw config.fault(.unsupported, "rope_position_scale", "is \(scale); only 1 is supported")
        }
        let stated = try config.optionalObject("rope_scaling")?.value("short_mscale") != nil
        shape = try ModelShape(
            config, rope: RopeFamily(theta: 1e6, statesAttentionFactors: stated),
            epsilon: ("layer_norm_eps", 1e-5), isTied: true)
        limit = Float(try config.optionalNumber("gegelu_limit", 1e-3...1e6) ?? .infinity)
        embeddingMultiplier = Float(try config.optionalNumber("mup_embedding_multiplier", 0...1e6) ?? 0)
        if embeddingMultiplier == 0 { embeddingMultiplier = 1 }
        widthMultiplier = Float(try config.optionalNumber("mup_width_multiplier", 0...1e6) ?? 0)
        if widthMultiplier == 0 { widthMultiplier = 1 }
        try setAttention(config)
    }

    private mutating func setAttention(_ config: ConfigReader) throws {
        let attention = shape.attention
        let head = attention.headDimension
        guard head % 16 == 0 else {
            throw config.fault(
                .unsupported, "num_attention_heads",
                "makes heads of \(head) dimensions; a multiple of 16 is needed")
        }
        var scale: Float?
        if try config.optionalBool("mup_use_scaling") ?? true {
            scale = Float(try config.optionalNumber("mup_attn_multiplier", 1e-6...1e6) ?? 1) / Float(head)
        }
        let length = try config.integer("blocksparse_block_size", 1...1 << 20, default: 64)
        guard length == BlockSparsity.blockLength else {
            throw config.fault(
                .unsupported, "blocksparse_block_size",
                "is \(length); only \(BlockSparsity.blockLength) is supported")
        }
        let stride = try config.integer("blocksparse_vert_stride", 1...1 << 20, default: 8)
        let isSame = try config.optionalBool("blocksparse_homo_head_pattern") ?? false
        let sparsity = BlockSparsity(
            localBlocks: try config.integer("blocksparse_num_local_blocks", 1...1 << 20, default: 16),
            stride: stride, headStep: isSame ? 0 : max(1, stride / attention.headCount))
        let every = try config.optionalInteger("dense_attention_every_n_layers", 1...4096)
        for number in shape.layers.indices {
            shape.layers[number].scale = scale
            let isDense = every.map { (number + 1) % $0 == 0 } ?? false
            if !isDense { shape.layers[number].sparsity = sparsity }
        }
    }

    package var hiddenTokens: [Int] { Self.dummies.filter { $0 < shape.vocabularySize } }

    package func layer<Weights: WeightReading>(
        _ number: Int, _ weights: inout Weights
    ) throws -> NetworkLayer<Weights.Operations> {
        let (h, inner, attention) = (shape.hiddenSize, intermediateSize, shape.layers[number])
        let path = "model.layers.\(number)."
        return NetworkLayer(
            norm: try norm(path + "input_layernorm", &weights),
            input: [
                try weights.linear(
                    path + "self_attn.query_key_value", attention.qkvWidth, h, hasBias: true,
                    order: attention.rowsByKind)
            ],
            mixer: .attention(nil),
            output: try weights.linear(path + "self_attn.dense", h, attention.queryWidth, hasBias: true),
            feedForward: .dense(
                .norm(try norm(path + "post_attention_layernorm", &weights)),
                up: [try weights.linear(path + "mlp.up_proj", 2 * inner, h, hasBias: true)],
                .gegelu(limit: limit),
                down: try weights.linear(path + "mlp.down_proj", h, inner, hasBias: true)))
    }
}

extension AttentionShape {
    /// Rows of all queries, then of all keys, then of all values. The tensor groups them by key head: its queries, its
    /// keys, its values.
    fileprivate var rowsByKind: [Range<Int>] {
        let (n, own) = (headDimension, headCount / keyValueHeadCount)
        let groups = (0..<keyValueHeadCount).map { $0 * (own + 2) * n }
        return groups.map { $0..<$0 + own * n } + groups.map { $0 + own * n..<$0 + (own + 1) * n }
            + groups.map { $0 + (own + 1) * n..<$0 + (own + 2) * n }
    }
}
