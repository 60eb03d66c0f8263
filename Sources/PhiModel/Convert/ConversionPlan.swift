/// Source rows that become consecutive rows of an output tensor.
struct SourceRows {
    let tensor: GGUFTensor
    /// If set, the rows of each head of this many dimensions are in the order of interleaved rotation
    /// (pairs next to each other), and are put into that of Phi-3 (first all first halves of the pairs).
    var interleavedHead: Int?
    /// Rows of the tensor; of a vector, values.
    let range: Range<Int>

    init(tensor: GGUFTensor, interleavedHead: Int? = nil, range: Range<Int>? = nil) {
        self.tensor = tensor
        self.interleavedHead = interleavedHead
        self.range = range ?? 0..<(tensor.isVector ? tensor.columns : tensor.rows)
    }

    var count: Int { tensor.isVector ? 1 : range.count }
    var columns: Int { tensor.isVector ? range.count : tensor.columns }

    /// The bytes that become output row `row`.
    func bytes(of row: Int) -> UnsafeRawBufferPointer {
        guard !tensor.isVector else {
            let bytes = tensor.row(0)
            let size = bytes.count / tensor.columns
            return UnsafeRawBufferPointer(
                rebasing: bytes[range.lowerBound * size..<range.upperBound * size])
        }
        return tensor.row(range.lowerBound + source(of: row))
    }

    private func source(of row: Int) -> Int {
        guard let head = interleavedHead else { return row }
        let (first, within) = (row / head * head, row % head)
        let (half, pair) = (within / (head / 2), within % (head / 2))
        return first + pair * 2 + half
    }

    /// The next rows of so many, as tensors that became one in the source.
    func cut(_ counts: Int...) -> [SourceRows] {
        var start = range.lowerBound
        return counts.map { count in
            defer { start += count }
            return SourceRows(tensor: tensor, range: start..<start + count)
        }
    }
}

/// One matrix or vector of the converted model.
struct PlannedLayer {
    enum Format: Equatable {
        /// MLX's affine quantization in groups of 32 columns, with scales of this type.
        case affine(bits: Int, scales: TensorType)
        case plain(TensorType)
    }

    /// Without ".weight".
    let path: String
    /// End of the name where the layer is not quantized: "weight" or "bias".
    let suffix: String
    /// Number of matrices of one shape that the rows are, one after the other; nil of one.
    let stack: Int?
    /// Stacked from top to bottom; all have the same columns.
    let parts: [SourceRows]
    let format: Format
    let isVector: Bool

    var rows: Int { parts.reduce(0) { $0 + $1.count } }
    var columns: Int { parts[0].columns }

    static let groupSize = 32

    /// - Throws: `ModelError` of kind `unsupported` if the parts can't be in one tensor without loss.
    init(path: String, suffix: String = "weight", stack: Int? = nil, parts: [SourceRows]) throws {
        self.path = path
        self.suffix = suffix
        self.stack = stack
        self.parts = parts
        isVector = parts[0].tensor.isVector
        let bits = parts.map(\.tensor.type.bits)
        if let widest = bits.compactMap({ $0 }).max() {
            guard !bits.contains(nil) else {
                let names = parts.map { "\"\($0.tensor.name)\" (\($0.tensor.type.name))" }
                throw ModelError(
                    .unsupported, path: parts[0].tensor.file.path,
                    "tensors \(names.joined(separator: ", ")) become one, but only some are quantized.")
            }
            // A narrower part keeps its codes, scales and biases: it only uses the lower codes.
            format = .affine(bits: widest, scales: try Self.scaleType(of: parts))
        } else {
            let types = Set(parts.map(\.tensor.type))
            let common: TensorType =
                types == [.f16] ? .f16 : types == [.bf16] ? .bf16 : .f32  // F32 holds all of both.
            format = .plain(common)
        }
    }

    /// F16 as in the GGUF, unless that can't hold a scale (a product of two, in K types) or a bias (-128 times the
    /// scale, say).
    /// Reads every scale, and refuses those that are no numbers.
    private static func scaleType(of parts: [SourceRows]) throws -> TensorType {
        var type = TensorType.f16
        for part in parts {
            let tensor = part.tensor
            for row in part.range {
                let bytes = tensor.row(row)
                let groups = bytes.count / tensor.type.blockSize * tensor.type.groupsPerBlock
                for group in 0..<groups {
                    let (block, within) = group.quotientAndRemainder(dividingBy: tensor.type.groupsPerBlock)
                    let (scale, bias) = QuantizedBlock.affine(
                        bytes, at: block * tensor.type.blockSize, group: within, type: tensor.type)
                    guard scale.isFinite, bias.isFinite else {
                        throw ModelError(
                            .malformed, path: tensor.file.path,
                            "tensor \"\(tensor.name)\" has a scale in row \(row) that is not a finite number."
                        )
                    }
                    if HalfFloat.exactly(scale) == nil || HalfFloat.exactly(bias) == nil { type = .f32 }
                }
            }
        }
        return type
    }
}

/// Tensors of the model, and those of the GGUF file that they are made of.
struct ConversionPlan {
    let layers: [PlannedLayer]
    let tiedEmbeddings: Bool
    let vocabularySize: Int
    /// LongRoPE's factors, where the file has them.
    let factors: (short: [Float], long: [Float])?

    init(
        layers: [PlannedLayer], vocabularySize: Int, tiedEmbeddings: Bool = false,
        factors: (short: [Float], long: [Float])?
    ) {
        (self.layers, self.vocabularySize) = (layers, vocabularySize)
        (self.tiedEmbeddings, self.factors) = (tiedEmbeddings, factors)
    }

    init(_ gguf: GGUFFile, _ model: GGUFHyperparameters) throws {
        switch model.architecture {
        case .phi2: self = try Self.phi2(gguf, model)
        case .phimoe: self = try Self.phiMoE(gguf, model)
        case .phi3, .llama, .qwen2, .qwen3: self = try Self.gated(gguf, model)
        }
    }

    /// Plans a file of an architecture with a gated feed-forward network: `phi3`, `llama`, `qwen2` and `qwen3`.
    private static func gated(_ gguf: GGUFFile, _ model: GGUFHyperparameters) throws -> ConversionPlan {
        var source = PlanSource(gguf)
        var layers: [PlannedLayer] = []
        func add(_ path: String, _ parts: SourceRows...) throws {
            layers.append(try PlannedLayer(path: path, parts: parts))
        }

        let (hidden, wide) = (model.hiddenSize, model.intermediateSize)
        let embedding = try source.matrix("token_embd", rows: nil, columns: hidden)
        let vocabularySize = embedding.count
        try add("model.embed_tokens", embedding)
        for index in 0..<model.layerCount {
            let (from, to) = ("blk.\(index).", "model.layers.\(index).")
            try add(to + "input_layernorm", source.vector(from + "attn_norm", count: hidden))
            if model.architecture.isQwen {
                for (name, rows) in [("q", model.queryRows), ("k", model.keyRows), ("v", model.keyRows)] {
                    let path = to + "self_attn.\(name)_proj"
                    try add(path, source.matrix("\(from)attn_\(name)", rows: rows, columns: hidden))
                    guard model.architecture == .qwen2 else { continue }
                    let bias = try source.vector("\(from)attn_\(name)", count: rows, suffix: "bias")
                    layers.append(try PlannedLayer(path: path, suffix: "bias", parts: [bias]))
                }
                for name in model.architecture == .qwen3 ? ["q", "k"] : [] {
                    try add(
                        to + "self_attn.\(name)_norm",
                        source.vector("\(from)attn_\(name)_norm", count: model.headDimension))
                }
            } else if source.contains(from + "attn_qkv") {
                guard model.architecture == .phi3 else { throw source.unexpected(from + "attn_qkv.weight") }
                try add(
                    to + "self_attn.qkv_proj",
                    source.matrix(
                        from + "attn_qkv", rows: model.queryRows + 2 * model.keyRows, columns: hidden))
            } else {
                let head = model.architecture == .llama ? model.headDimension : nil
                try add(
                    to + "self_attn.qkv_proj",
                    source.matrix(
                        from + "attn_q", rows: model.queryRows, columns: hidden, interleavedHead: head),
                    source.matrix(
                        from + "attn_k", rows: model.keyRows, columns: hidden, interleavedHead: head),
                    source.matrix(from + "attn_v", rows: model.keyRows, columns: hidden))
            }
            try add(
                to + "self_attn.o_proj",
                source.matrix(from + "attn_output", rows: hidden, columns: model.queryRows))
            try add(to + "post_attention_layernorm", source.vector(from + "ffn_norm", count: hidden))
            if model.architecture == .phi3, !source.contains(from + "ffn_gate") {
                try add(
                    to + "mlp.gate_up_proj", source.matrix(from + "ffn_up", rows: 2 * wide, columns: hidden))
            } else if model.architecture.isQwen {
                for name in ["gate", "up"] {
                    try add(
                        to + "mlp.\(name)_proj",
                        source.matrix("\(from)ffn_\(name)", rows: wide, columns: hidden))
                }
            } else {
                try add(
                    to + "mlp.gate_up_proj",
                    source.matrix(from + "ffn_gate", rows: wide, columns: hidden),
                    source.matrix(from + "ffn_up", rows: wide, columns: hidden))
            }
            try add(to + "mlp.down_proj", source.matrix(from + "ffn_down", rows: hidden, columns: wide))
        }
        try add("model.norm", source.vector("output_norm", count: hidden))
        let tiedEmbeddings = !source.contains("output")
        if !tiedEmbeddings {
            try add("lm_head", source.matrix("output", rows: vocabularySize, columns: hidden))
        }
        let factors = try source.ropeFactors(model)
        if let rest = source.unused.min() { throw source.unexpected(rest) }
        return ConversionPlan(
            layers: layers, vocabularySize: vocabularySize, tiedEmbeddings: tiedEmbeddings, factors: factors)
    }
}
