extension ConversionPlan {
    /// Plans a file of architecture `phi2`: LayerNorms and linear layers, all with biases; q, k and v fused or apart.
    static func phi2(_ gguf: GGUFFile, _ model: GGUFHyperparameters) throws -> ConversionPlan {
        var source = PlanSource(gguf)
        var layers: [PlannedLayer] = []
        func add(_ path: String, _ weight: SourceRows, _ bias: SourceRows) throws {
            layers.append(try PlannedLayer(path: path, parts: [weight]))
            layers.append(try PlannedLayer(path: path, suffix: "bias", parts: [bias]))
        }
        func norm(_ path: String, _ name: String) throws {
            try add(
                path, source.vector(name, count: model.hiddenSize),
                source.vector(name, count: model.hiddenSize, suffix: "bias"))
        }
        func linear(_ path: String, _ name: String, rows: Int, columns: Int) throws {
            try add(
                path, source.matrix(name, rows: rows, columns: columns),
                source.vector(name, count: rows, suffix: "bias"))
        }

        let (hidden, wide) = (model.hiddenSize, model.intermediateSize)
        let (queries, keys) = (model.queryRows, model.keyRows)
        let embedding = try source.matrix("token_embd", rows: nil, columns: hidden)
        layers.append(try PlannedLayer(path: "model.embed_tokens", parts: [embedding]))
        for index in 0..<model.layerCount {
            let (from, to) = ("blk.\(index).", "model.layers.\(index).")
            try norm(to + "input_layernorm", from + "attn_norm")
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
            try linear(to + "self_attn.dense", from + "attn_output", rows: hidden, columns: queries)
            try linear(to + "mlp.fc1", from + "ffn_up", rows: wide, columns: hidden)
            try linear(to + "mlp.fc2", from + "ffn_down", rows: hidden, columns: wide)
        }
        try norm("model.final_layernorm", "output_norm")
        try linear("lm_head", "output", rows: embedding.count, columns: hidden)
        if let rest = source.unused.min() { throw source.unexpected(rest) }
        return ConversionPlan(layers: layers, vocabularySize: embedding.count)
    }
}
