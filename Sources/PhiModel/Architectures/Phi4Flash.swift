import CPhiKernels

/// Phi-4-mini-flash-reasoning, a SambaY model (Ren et al. 2025, arXiv 2507.06607): pre-norm layers without positions
/// that alternate between scans and attention, all with a gated feed-forward network. `h` is hidden_size.
///
///     x += out_proj(mixer(n)),                n = layer_norm(x)
///     x += fc2(silu(gate) * up),              gate, up = fc1(layer_norm(x))
///
/// The first half of the layers plus two is a decoder of Mamba's selective scans and differential attention with a
/// window, except its last attention, which sees everything. The other layers are a decoder without its own cache: its
/// attention reads the keys and values of that last one, and in place of scans it has gated memory units,
/// silu(in_proj(n)) * (results of the last scan). So only a prompt's rows with logits go through the second half.
package struct Phi4Flash: Architecture, Equatable {
    package static let modelType = "phi4flash"
    package static let models = "Phi-4-mini-flash-reasoning"
    package static let modules = [
        "attn.in_proj", "attn.conv1d", "attn.x_proj", "attn.dt_proj", "attn.Wqkv", "attn.out_proj",
        "mlp.fc1", "mlp.fc2", "input_layernorm", "post_attention_layernorm",
    ]

    package var shape: ModelShape
    /// The scans' channels.
    package var scanWidth: Int
    /// State numbers of each channel.
    package var scanStates: Int
    /// Rank of the matrix that makes the scans' steps.
    package var scanRank: Int
    /// Positions that a scan's convolution sees.
    package var convolutionLength: Int

    package init(_ config: ConfigReader) throws {
        try config.checkActivation("hidden_act", ["silu"])
        try config.checkFalse("mlp_bias", "lm_head_bias", "mamba_proj_bias")
        try config.checkAbsent("rope_scaling")
        guard try config.optionalBool("mamba_conv_bias") ?? true else {
            throw config.fault(.unsupported, "mamba_conv_bias", "is false; only models with it are supported")
        }
        shape = try ModelShape(config, rope: nil, epsilon: ("layer_norm_eps", 1e-5), isTied: true)
        let h = shape.hiddenSize
        scanWidth = h * (try config.integer("mamba_expand", 1...64, default: 2))
        scanStates = try config.integer("mamba_d_state", 1...1024, default: 16)
        convolutionLength = try config.integer("mamba_d_conv", 2...64, default: 4)
        let isAutomatic = config.value("mamba_dt_rank") == .string("auto")
        scanRank =
            isAutomatic
            ? (h + 15) / 16 : try config.integer("mamba_dt_rank", 1...1 << 16, default: (h + 15) / 16)
        try setLayers(config)
    }

    /// The first layer without its own cache.
    private var firstShared: Int { shape.layerCount / 2 + 2 }
    package var lastStored: Int? { firstShared - 1 }

    private mutating func setLayers(_ config: ConfigReader) throws {
        let count = shape.layerCount
        guard count % 4 == 0 else {
            throw config.fault(.unsupported, "num_hidden_layers", "is \(count); a multiple of 4 is needed")
        }
        guard try config.integer("mb_per_layer", 0...4096, default: 2) == 2 else {
            throw config.fault(.unsupported, "mb_per_layer", "is not 2: every other layer is a scan")
        }
        guard scanWidth % 16 == 0 else {
            throw config.fault(
                .unsupported, "mamba_expand",
                "gives scans of \(scanWidth) channels; a multiple of 16 is needed")
        }
        if let types = try config.optionalStrings("layer_types"),
            types.map({ $0 == "sliding_attention" }) != (0..<count).map({ $0 % 2 != 0 && $0 < count / 2 })
        {
            throw config.fault(
                .unsupported, "layer_types",
                "does not say \"sliding_attention\" for every other layer of the first half, and for no other"
            )
        }
        guard config.value("sliding_window") != nil else {
            throw config.fault(.malformed, "sliding_window", "is missing; a whole number is needed")
        }
        let attention = shape.attention
        for key in ["num_attention_heads", "num_key_value_heads"]
        where try config.integer(key, 1...65536) % 2 != 0 {
            throw config.fault(.malformed, key, "is odd; differential attention has pairs of heads")
        }
        guard 2 * attention.headDimension <= Int(PHI_KV_MAX_DIMS) else {
            throw config.fault(
                .unsupported, "num_attention_heads",
                "makes pairs of heads of \(2 * attention.headDimension) dimensions; "
                    + "the kernels take \(Int(PHI_KV_MAX_DIMS)) at most")
        }
        // Two adjacent heads are kept as one, with the scale of each.
        var pairs = attention
        (pairs.keyValueHeadCount, pairs.headDimension) = (
            attention.keyValueHeadCount / 2, 2 * attention.headDimension
        )
        pairs.scale = attention.softmaxScale
        shape.stateWidths = Array(repeating: 0, count: count)
        for number in 0..<count {
            shape.layers[number] = pairs
            if number > count / 2 { shape.layers[number].slidingWindow = nil }
            if number % 2 == 0 || number >= firstShared {
                shape.layers[number] = AttentionShape(
                    headCount: 0, keyValueHeadCount: 0, headDimension: attention.headDimension)
            }
            if number % 2 == 0, number < firstShared {
                shape.stateWidths[number] = SelectiveScan.stateWidth(
                    width: scanWidth, states: scanStates, length: convolutionLength)
            }
        }
    }

    package var rowBytes: Int {
        let (h, attention) = (shape.hiddenSize, shape.attention)
        let widest = max(attention.qkvWidth, 2 * scanWidth, 2 * intermediateSize)
        // Floats: hidden and normed rows, and results of a matmul, of attention and of the gate; of a mixer a scan's
        // convolution and numbers or wide heads, and a scan's ranks, steps and results; bytes: the quantized input of a
        // matmul.
        let wide = 2 * attention.queryWidth
        let mixer =
            max(scanWidth, wide + 2 * attention.keyWidth) + max(scanRank + 2 * scanStates, wide) + scanRank
            + 2 * scanWidth
        return 4 * (2 * h + widest + scanWidth + intermediateSize + mixer) + widest
    }

    package func layer<Weights: WeightReading>(
        _ number: Int, _ weights: inout Weights
    ) throws -> NetworkLayer<Weights.Operations> {
        let (h, inner) = (shape.hiddenSize, intermediateSize)
        let path = "model.layers.\(number)."
        let attentionNorm = try norm(path + "input_layernorm", &weights)
        let (input, mixer) = try mixer(number, path + "attn", &weights)
        return NetworkLayer(
            norm: attentionNorm, input: [input], mixer: .own(mixer),
            output: try weights.linear(path + "attn.out_proj", h, mixer.width, hasBias: number % 2 != 0),
            feedForward: .dense(
                .norm(try norm(path + "post_attention_layernorm", &weights)),
                up: [try weights.linear(path + "mlp.fc1", 2 * inner, h)], .gatedSilu,
                down: try weights.linear(path + "mlp.fc2", h, inner)))
    }

    private func mixer<Weights: WeightReading>(
        _ number: Int, _ path: String, _ weights: inout Weights
    ) throws -> (Weights.Operations.Linear, any RowMixer) {
        let (h, attention, isShared) = (shape.hiddenSize, shape.attention, number >= firstShared)
        if number % 2 != 0 {
            let width = isShared ? attention.queryWidth : attention.qkvWidth
            return (
                try weights.linear(path + ".Wqkv", width, h, hasBias: true),
                try AttentionDifference(
                    path + ".inner_cross_attn", layer: number, attention,
                    sharedLayer: isShared ? firstShared - 1 : nil, &weights)
            )
        }
        if isShared {
            return (try weights.linear(path + ".in_proj", scanWidth, h), GatedMemory(width: scanWidth))
        }
        return (
            try weights.linear(path + ".in_proj", 2 * scanWidth, h),
            try SelectiveScan(
                path, width: scanWidth, states: scanStates, rank: scanRank, length: convolutionLength,
                &weights)
        )
    }
}
