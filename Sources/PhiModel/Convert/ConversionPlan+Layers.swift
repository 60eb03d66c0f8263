extension ConversionPlan {
    init(_ gguf: GGUFFile, _ model: GGUFHyperparameters) throws {
        var plan = LayerPlanner(gguf, model)
        let embedding = try plan.source.matrix("token_embd", rows: nil, columns: model.hiddenSize)
        try plan.add("model.embed_tokens", [embedding])
        for index in 0..<model.layerCount {
            let (from, to) = ("blk.\(index).", "model.layers.\(index).")
            try plan.norm(to + "input_layernorm", from + "attn_norm")
            try plan.attention(to + "self_attn.", from)
            if model.architecture != .phi2 {
                try plan.norm(to + "post_attention_layernorm", from + "ffn_norm")
            }
            try plan.feedForward(to, from)
        }
        try plan.norm(model.architecture == .phi2 ? "model.final_layernorm" : "model.norm", "output_norm")
        vocabularySize = embedding.count
        tiedEmbeddings = !model.architecture.hasBiases && !plan.source.contains("output")
        if !tiedEmbeddings {
            try plan.linear("lm_head", "output", rows: vocabularySize, columns: model.hiddenSize)
        }
        factors = try plan.source.ropeFactors(model)
        if let rest = plan.source.unused.min() { throw plan.source.unexpected(rest) }
        layers = plan.layers
    }
}

/// Plans layers one after the other, as the architecture has them.
private struct LayerPlanner {
    var source: PlanSource
    var layers: [PlannedLayer] = []
    let model: GGUFHyperparameters
    let architecture: GGUFHyperparameters.Architecture

    init(_ gguf: GGUFFile, _ model: GGUFHyperparameters) {
        source = PlanSource(gguf)
        self.model = model
        architecture = model.architecture
    }

    mutating func add(_ path: String, _ parts: [SourceRows], bias: SourceRows? = nil) throws {
        layers.append(try PlannedLayer(path: path, parts: parts))
        if let bias { layers.append(try PlannedLayer(path: path, suffix: "bias", parts: [bias])) }
    }

    mutating func norm(_ path: String, _ name: String, count: Int? = nil) throws {
        let count = count ?? model.hiddenSize
        let bias = architecture.hasBiases ? try source.vector(name, count: count, suffix: "bias") : nil
        try add(path, [source.vector(name, count: count)], bias: bias)
    }

    mutating func linear(
        _ path: String, _ name: String, rows: Int, columns: Int, hasBias: Bool? = nil
    ) throws {
        let weight = try source.matrix(name, rows: rows, columns: columns)
        let hasBias = hasBias ?? architecture.hasBiases
        try add(path, [weight], bias: hasBias ? source.vector(name, count: rows, suffix: "bias") : nil)
    }

    mutating func attention(_ to: String, _ from: String) throws {
        let (hidden, queries, keys) = (model.hiddenSize, model.queryRows, model.keyRows)
        let all = queries + 2 * keys
        let isFused = source.contains(from + "attn_qkv")
        switch architecture {
        case .phi3 where isFused:
            try linear(to + "qkv_proj", from + "attn_qkv", rows: all, columns: hidden)
        case .phi3, .llama:
            guard !isFused else { throw source.unexpected(from + "attn_qkv.weight") }
            let head = architecture == .llama ? model.headDimension : nil
            try add(
                to + "qkv_proj",
                [
                    source.matrix(from + "attn_q", rows: queries, columns: hidden, interleavedHead: head),
                    source.matrix(from + "attn_k", rows: keys, columns: hidden, interleavedHead: head),
                    source.matrix(from + "attn_v", rows: keys, columns: hidden),
                ])
        case .phi2 where isFused, .phimoe where isFused:
            let weights = try source.matrix(from + "attn_qkv", rows: all, columns: hidden)
                .cut(queries, keys, keys)
            let biases = try source.vector(from + "attn_qkv", count: all, suffix: "bias")
                .cut(queries, keys, keys)
            for (name, (weight, bias)) in zip(["q", "k", "v"], zip(weights, biases)) {
                try add("\(to)\(name)_proj", [weight], bias: bias)
            }
        case .phi2, .phimoe, .qwen2, .qwen3:
            for (name, rows) in [("q", queries), ("k", keys), ("v", keys)] {
                try linear(
                    "\(to)\(name)_proj", "\(from)attn_\(name)", rows: rows, columns: hidden,
                    hasBias: architecture != .qwen3)
            }
        }
        for name in architecture == .qwen3 ? ["q", "k"] : [] {
            try norm("\(to)\(name)_norm", "\(from)attn_\(name)_norm", count: model.headDimension)
        }
        let output = architecture == .phi2 ? "dense" : "o_proj"
        try linear(to + output, from + "attn_output", rows: hidden, columns: queries)
    }

    mutating func feedForward(_ to: String, _ from: String) throws {
        let (hidden, wide) = (model.hiddenSize, model.intermediateSize)
        switch architecture {
        case .phi2:
            try linear(to + "mlp.fc1", from + "ffn_up", rows: wide, columns: hidden)
            try linear(to + "mlp.fc2", from + "ffn_down", rows: hidden, columns: wide)
            return
        case .phimoe:
            try experts(to + "block_sparse_moe.", from)
            return
        case .phi3 where !source.contains(from + "ffn_gate"):
            try linear(to + "mlp.gate_up_proj", from + "ffn_up", rows: 2 * wide, columns: hidden)
        case .phi3, .llama:
            let parts = try ["gate", "up"].map {
                try source.matrix("\(from)ffn_\($0)", rows: wide, columns: hidden)
            }
            try add(to + "mlp.gate_up_proj", parts)
        case .qwen2, .qwen3:
            for name in ["gate", "up"] {
                try linear("\(to)mlp.\(name)_proj", "\(from)ffn_\(name)", rows: wide, columns: hidden)
            }
        }
        try linear(to + "mlp.down_proj", from + "ffn_down", rows: hidden, columns: wide)
    }

    /// A router, and the experts' matrices of each kind, which both formats have in one tensor; without biases.
    private mutating func experts(_ to: String, _ from: String) throws {
        let (hidden, wide, count) = (model.hiddenSize, model.intermediateSize, model.expertCount)
        try linear(to + "gate", from + "ffn_gate_inp", rows: count, columns: hidden, hasBias: false)
        for (name, rows, columns) in [("gate", wide, hidden), ("up", wide, hidden), ("down", hidden, wide)] {
            let matrix = try source.matrix("\(from)ffn_\(name)_exps", rows: count * rows, columns: columns)
            layers.append(
                try PlannedLayer(path: "\(to)switch_mlp.\(name)_proj", stack: count, parts: [matrix]))
        }
    }
}
