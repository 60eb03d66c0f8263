extension ConversionPlan {
    init(_ gguf: GGUFFile, _ model: GGUFHyperparameters) throws {
        var plan = LayerPlanner(gguf, model)
        let embedding = try plan.matrix("token_embd", rows: nil, columns: model.hiddenSize)
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
        tiedEmbeddings = !model.architecture.hasBiases && !plan.contains("output")
        if !tiedEmbeddings {
            try plan.linear("lm_head", "output", rows: vocabularySize, columns: model.hiddenSize)
        }
        factors = try plan.ropeFactors()
        if let rest = plan.unused.min() { throw plan.unexpected(rest) }
        layers = plan.layers
    }
}

/// Plans layers one after the other, as the architecture has them, and knows which tensors are left.
private struct LayerPlanner {
    let gguf: GGUFFile
    let model: GGUFHyperparameters
    var layers: [PlannedLayer] = []
    /// Names of the tensors that are left.
    private(set) var unused: Set<String>
    private var architecture: GGUFHyperparameters.Architecture { model.architecture }

    init(_ gguf: GGUFFile, _ model: GGUFHyperparameters) {
        (self.gguf, self.model) = (gguf, model)
        unused = Set(gguf.tensors.keys)
    }

    mutating func add(_ path: String, _ parts: [SourceRows], bias: SourceRows? = nil) throws {
        layers.append(try PlannedLayer(path: path, parts: parts))
        if let bias { layers.append(try PlannedLayer(path: path, suffix: "bias", parts: [bias])) }
    }

    mutating func norm(_ path: String, _ name: String, count: Int? = nil) throws {
        let count = count ?? model.hiddenSize
        let bias = architecture.hasBiases ? try vector(name, count: count, suffix: "bias") : nil
        try add(path, [vector(name, count: count)], bias: bias)
    }

    mutating func linear(
        _ path: String, _ name: String, rows: Int, columns: Int, hasBias: Bool? = nil
    ) throws {
        let weight = try matrix(name, rows: rows, columns: columns)
        let hasBias = hasBias ?? architecture.hasBiases
        try add(path, [weight], bias: hasBias ? vector(name, count: rows, suffix: "bias") : nil)
    }

    mutating func attention(_ to: String, _ from: String) throws {
        let (hidden, queries, keys) = (model.hiddenSize, model.queryRows, model.keyRows)
        let all = queries + 2 * keys
        let isFused = contains(from + "attn_qkv")
        switch architecture {
        case .phi3 where isFused:
            try linear(to + "qkv_proj", from + "attn_qkv", rows: all, columns: hidden)
        case .phi3, .llama:
            guard !isFused else { throw unexpected(from + "attn_qkv.weight") }
            let head = architecture == .llama ? model.headDimension : nil
            try add(
                to + "qkv_proj",
                [
                    matrix(from + "attn_q", rows: queries, columns: hidden, interleavedHead: head),
                    matrix(from + "attn_k", rows: keys, columns: hidden, interleavedHead: head),
                    matrix(from + "attn_v", rows: keys, columns: hidden),
                ])
        case .phi2 where isFused, .phimoe where isFused:
            let weights = try matrix(from + "attn_qkv", rows: all, columns: hidden)
                .cut(queries, keys, keys)
            let biases = try vector(from + "attn_qkv", count: all, suffix: "bias")
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
        case .phi3 where !contains(from + "ffn_gate"):
            try linear(to + "mlp.gate_up_proj", from + "ffn_up", rows: 2 * wide, columns: hidden)
        case .phi3, .llama:
            let parts = try ["gate", "up"].map {
                try matrix("\(from)ffn_\($0)", rows: wide, columns: hidden)
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
            let matrix = try matrix("\(from)ffn_\(name)_exps", rows: count * rows, columns: columns)
            layers.append(
                try PlannedLayer(path: "\(to)switch_mlp.\(name)_proj", stack: count, parts: [matrix]))
        }
    }

    // MARK: Tensors of the file, checked

    func contains(_ name: String) -> Bool { gguf.tensors[name + ".weight"] != nil }

    func unexpected(_ name: String) -> UserError {
        UserError(
            .unsupported, at: gguf.file.path,
            "tensor \"\(name)\" has no place in a block of this architecture; the model can't be converted.")
    }

    private mutating func take(_ name: String) throws -> GGUFTensor {
        guard let tensor = gguf.tensors[name] else {
            throw UserError(.malformed, at: gguf.file.path, "there is no tensor \"\(name)\".")
        }
        unused.remove(tensor.name)
        return tensor
    }

    mutating func matrix(
        _ name: String, rows: Int?, columns: Int, interleavedHead: Int? = nil
    ) throws -> SourceRows {
        let tensor = try take(name + ".weight")
        guard !tensor.isVector, tensor.rows == rows ?? tensor.rows, tensor.columns == columns else {
            throw UserError(
                .malformed, at: gguf.file.path,
                "tensor \"\(tensor.name)\" has \(tensor.rows) rows of \(tensor.columns); "
                    + "\(rows.map(String.init) ?? "any number of") rows of \(columns) are expected.")
        }
        return SourceRows(tensor: tensor, interleavedHead: interleavedHead)
    }

    mutating func vector(_ name: String, count: Int, suffix: String = "weight") throws -> SourceRows {
        let tensor = try take("\(name).\(suffix)")
        guard tensor.isVector, tensor.columns == count, tensor.type.bits == nil else {
            throw UserError(
                .malformed, at: gguf.file.path,
                "tensor \"\(tensor.name)\" has \(tensor.rows) rows of \(tensor.columns) as \(tensor.type.name); "
                    + "\(count) unquantized values are expected.")
        }
        return SourceRows(tensor: tensor)
    }

    /// LongRoPE's factors, where the file has them. Llama 3.1 and later have one set for all lengths.
    mutating func ropeFactors() throws -> (short: [Float], long: [Float])? {
        if model.architecture == .llama, contains("rope_freqs") {
            let factors = try floats("rope_freqs", count: model.rotaryDimension / 2)
            return (factors, factors)
        }
        guard model.architecture.hasLongRope,
            contains("rope_factors_short") || contains("rope_factors_long")
        else { return nil }
        return (
            try floats("rope_factors_short", count: model.rotaryDimension / 2),
            try floats("rope_factors_long", count: model.rotaryDimension / 2)
        )
    }

    private mutating func floats(_ name: String, count: Int) throws -> [Float] {
        let tensor = try vector(name, count: count).tensor
        guard tensor.type == .f32 else {
            throw UserError(.unsupported, at: gguf.file.path, "tensor \"\(tensor.name)\" must be F32.")
        }
        let bytes = tensor.row(0)
        return (0..<count).map {
            Float(
                bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self))
            )
        }
    }
}
