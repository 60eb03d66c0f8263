/// LFM2: pre-norm layers of grouped-query attention with norms of heads, or of a short gated convolution, and a gated
/// feed-forward network. `h` is hidden_size.
///
///     x += output(attention(q(n), k(n), v(n))),              n = rms_norm(x)
///     x += output(c(n) * convolution(b(n) * x(n))),          n = rms_norm(x)
///     x += w2(silu(w1(n)) * w3(n)),                          n = rms_norm(x)
package struct Lfm2: Architecture, Equatable {
    package static let modelType = "lfm2"
    package static let models = "LFM2"
    /// The convolutions' weights are no matrices.
    package static let modules: [String] = []

    package var shape: ModelShape
    /// Rows of w1 and of w3.
    package var intermediateSize: Int
    package var normEpsilon: Double
    package var tiedEmbeddings: Bool
    /// Positions that a convolution sees.
    package var convolutionLength: Int

    package init(_ config: ConfigReader) throws {
        try config.checkFalse("conv_bias")
        try config.checkAbsent("sliding_window")
        shape = try ModelShape(config, rope: RopeFamily(theta: 1e6))
        convolutionLength = try config.integer("conv_L_cache", 2...64, default: 3)
        normEpsilon = try config.optionalNumber("norm_eps", 0...1) ?? 1e-5
        tiedEmbeddings =
            try config.optionalBool("tie_embedding") ?? config.optionalBool("tie_word_embeddings") ?? true
        intermediateSize = try Self.intermediateSize(config)
        for (number, isAttention) in try Self.attentions(config, count: shape.layerCount).enumerated()
        where !isAttention {
            shape.layers[number] = .none(
                headDimension: shape.attention.headDimension,
                stateWidth: (convolutionLength - 1) * shape.hiddenSize)
        }
    }

    /// Which layers have attention; the others have convolutions.
    private static func attentions(_ config: ConfigReader, count: Int) throws -> [Bool] {
        guard let types = try config.optionalStrings("layer_types") else {
            let places = try config.optionalIntegers("full_attn_idxs", 0...count - 1)
            return (0..<count).map { places?.contains($0) ?? true }
        }
        guard types.count == count else {
            throw config.fault(
                .malformed, "layer_types", "has \(types.count) entries, but there are \(count) layers")
        }
        return try types.map { type in
            guard ["full_attention", "conv"].contains(type) else {
                throw config.fault(
                    .unsupported, "layer_types",
                    "has \"\(type)\"; \"full_attention\" and \"conv\" are supported")
            }
            return type == "full_attention"
        }
    }

    /// The size that is given, or what it stands for.
    private static func intermediateSize(_ config: ConfigReader) throws -> Int {
        let range = 1...ConfigReader.maximumWidth
        let key = config.value("block_ff_dim") == nil ? "intermediate_size" : "block_ff_dim"
        let size = try config.integer(key, range)
        guard try config.optionalBool("block_auto_adjust_ff_dim") ?? true else { return size }
        let part = Int(2 * Double(size) / 3)
        let multiplier = try config.optionalNumber("block_ffn_dim_multiplier", 1e-3...1e3) ?? 1
        let multiple = try config.integer("block_multiple_of", range, default: 256)
        return max(1, Int(multiplier * Double(part))).rounded(up: multiple)
    }

    package var rowBytes: Int {
        let h = shape.hiddenSize
        let widest = max(shape.attention.qkvWidth, 3 * h, 2 * intermediateSize)
        // Floats: hidden and normed rows, a matmul's results, what attention and the gate make of them; bytes:
        // the quantized input of a matmul.
        return 4 * (3 * h + widest + max(intermediateSize, shape.attention.queryWidth)) + widest
    }

    package func network<Weights: WeightReading>(
        _ weights: inout Weights
    ) throws -> any Network<Weights.Operations> {
        let (h, vocabulary) = (shape.hiddenSize, shape.vocabularySize)
        let embedding = try weights.embedding("model.embed_tokens", vocabulary, h)
        let head =
            tiedEmbeddings ? weights.linear(tiedTo: embedding) : try weights.linear("lm_head", vocabulary, h)
        let layers = try shape.layers.indices.map { try layer($0, &weights) }
        return LayeredNetwork(
            embedding: embedding, layers: layers,
            norm: try weights.rmsNorm("model.embedding_norm", h, normEpsilon), head: head)
    }

    private func layer<Weights: WeightReading>(
        _ number: Int, _ weights: inout Weights
    ) throws -> NetworkLayer<Weights.Operations> {
        let (h, inner) = (shape.hiddenSize, intermediateSize)
        let path = "model.layers.\(number)."
        let isAttention = shape.layers[number].headCount > 0
        let mixer = isAttention ? "self_attn." : "conv."
        let n = shape.attention.headDimension
        return NetworkLayer(
            norm: try weights.rmsNorm(path + "operator_norm", h, normEpsilon),
            input: try isAttention
                ? zip(["q", "k", "v"], shape.layers[number].widths).map {
                    try weights.linear("\(path)\(mixer)\($0)_proj", $1, h)
                } : [weights.linear(path + mixer + "in_proj", 3 * h, h)],
            mixer: try isAttention
                ? .attention(
                    HeadNorms(
                        query: weights.rmsNorm(path + mixer + "q_layernorm", n, normEpsilon),
                        key: weights.rmsNorm(path + mixer + "k_layernorm", n, normEpsilon)))
                : .convolution(weights.convolution(path + mixer + "conv", h, convolutionLength)),
            output: try weights.linear(
                path + mixer + "out_proj", h, isAttention ? shape.layers[number].queryWidth : h),
            feedForward: .dense(
                .norm(try weights.rmsNorm(path + "ffn_norm", h, normEpsilon)),
                up: [
                    try weights.linear(path + "feed_forward.w1", inner, h),
                    try weights.linear(path + "feed_forward.w3", inner, h),
                ], .gatedSilu, down: try weights.linear(path + "feed_forward.w2", h, inner)))
    }
}
