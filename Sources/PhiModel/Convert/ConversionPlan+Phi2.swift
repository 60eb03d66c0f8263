/// The layers of a plan where norms are LayerNorms and matrices have biases; q, k and v fused or apart.
private struct BiasedLayers {
    var source: PlanSource
    var layers: [PlannedLayer] = []
    let model: GGUFHyperparameters
    /// Rows of the embedding.
    let vocabularySize: Int

    init(_ gguf: GGUFFile, _ model: GGUFHyperparameters) throws {
        source = PlanSource(gguf)
        self.model = model
        let embedding = try source.matrix("token_embd", rows: nil, columns: model.hiddenSize)
        vocabularySize = embedding.count
        layers.append(try PlannedLayer(path: "model.embed_tokens", parts: [embedding]))
    }

    mutating func add(_ path: String, _ weight: SourceRows, _ bias: SourceRows) throws {
        layers.append(try PlannedLayer(path: path, parts: [weight]))
        layers.append(try PlannedLayer(path: path, suffix: "bias", parts: [bias]))
    }

    mutating func norm(_ path: String, _ name: String) throws {
        try add(
            path, source.vector(name, count: model.hiddenSize),
            source.vector(name, count: model.hiddenSize, suffix: "bias"))
    }

    mutating func linear(_ path: String, _ name: String, rows: Int, columns: Int) throws {
        try add(
            path, source.matrix(name, rows: rows, columns: columns),
            source.vector(name, count: rows, suffix: "bias"))
    }

    /// The four matrices of attention.
    mutating func attention(_ to: String, _ from: String, output: String) throws {
        let (hidden, queries, keys) = (model.hiddenSize, model.queryRows, model.keyRows)
        let names = ["q_proj", "k_proj", "v_proj"].map { "\(to)self_attn.\($0)" }
        if source.contains(from + "attn_qkv") {
            let all = queries + 2 * keys
            let weights = try source.matrix(from + "attn_qkv", rows: all, columns: hidden)
                .cut(queries, keys, keys)
            let biases = try source.vector(from + "attn_qkv", count: all, suffix: "bias")
                .cut(queries, keys, keys)
            for (name, (weight, bias)) in zip(names, zip(weights, biases)) { try add(name, weight, bias) }
        } else {
            try linear(names[0], from + "attn_q", rows: queries, columns: hidden)
            try linear(names[1], from + "attn_k", rows: keys, columns: hidden)
            try linear(names[2], from + "attn_v", rows: keys, columns: hidden)
        }
        try linear("\(to)self_attn.\(output)", from + "attn_output", rows: hidden, columns: queries)
    }

    /// The experts' matrices of one kind, which both formats have in one tensor.
    mutating func experts(_ path: String, _ name: String, rows: Int, columns: Int) throws {
        let matrix = try source.matrix(name, rows: model.expertCount * rows, columns: columns)
        layers.append(try PlannedLayer(path: path, stack: model.expertCount, parts: [matrix]))
    }

    /// Plans what comes after the layers.
    mutating func plan(lastNorm: String) throws -> ConversionPlan {
        try norm(lastNorm, "output_norm")
        try linear("lm_head", "output", rows: vocabularySize, columns: model.hiddenSize)
        let factors = try source.ropeFactors(model)
        if let rest = source.unused.min() { throw source.unexpected(rest) }
        return ConversionPlan(layers: layers, vocabularySize: vocabularySize, factors: factors)
    }
}

extension ConversionPlan {
    /// Plans a file of architecture `phi2`.
    static func phi2(_ gguf: GGUFFile, _ model: GGUFHyperparameters) throws -> ConversionPlan {
        var plan = try BiasedLayers(gguf, model)
        let (hidden, wide) = (model.hiddenSize, model.intermediateSize)
        for index in 0..<model.layerCount {
            let (from, to) = ("blk.\(index).", "model.layers.\(index).")
            try plan.norm(to + "input_layernorm", from + "attn_norm")
            try plan.attention(to, from, output: "dense")
            try plan.linear(to + "mlp.fc1", from + "ffn_up", rows: wide, columns: hidden)
            try plan.linear(to + "mlp.fc2", from + "ffn_down", rows: hidden, columns: wide)
        }
        return try plan.plan(lastNorm: "model.final_layernorm")
    }

    /// Plans a file of architecture `phimoe`: two norms, and a router and stacked experts without biases.
    static func phiMoE(_ gguf: GGUFFile, _ model: GGUFHyperparameters) throws -> ConversionPlan {
        var plan = try BiasedLayers(gguf, model)
        let (hidden, wide) = (model.hiddenSize, model.intermediateSize)
        for index in 0..<model.layerCount {
            let (from, to) = ("blk.\(index).", "model.layers.\(index).")
            try plan.norm(to + "input_layernorm", from + "attn_norm")
            try plan.attention(to, from, output: "o_proj")
            try plan.norm(to + "post_attention_layernorm", from + "ffn_norm")
            let moe = to + "block_sparse_moe."
            let router = try plan.source.matrix(
                from + "ffn_gate_inp", rows: model.expertCount, columns: hidden)
            plan.layers.append(try PlannedLayer(path: moe + "gate", parts: [router]))
            for (name, rows, columns) in [
                ("gate", wide, hidden), ("up", wide, hidden), ("down", hidden, wide),
            ] {
                try plan.experts(
                    "\(moe)switch_mlp.\(name)_proj", "\(from)ffn_\(name)_exps", rows: rows, columns: columns)
            }
        }
        return try plan.plan(lastNorm: "model.norm")
    }
}
