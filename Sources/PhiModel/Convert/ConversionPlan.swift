/// Source rows that become consecutive rows of an output tensor.
struct SourceRows {
    let tensor: GGUFTensor
    /// If set, the rows of each head of this many dimensions are in the order of interleaved rotation
    /// (pairs next to each other), and are put into that of Phi-3 (first all first halves of the pairs).
    let interleavedHead: Int?

    var count: Int { tensor.rows }

    /// Which source row becomes output row `row`.
    func source(of row: Int) -> Int {
        guard let head = interleavedHead else { return row }
        let (first, within) = (row / head * head, row % head)
        let (half, pair) = (within / (head / 2), within % (head / 2))
        return first + pair * 2 + half
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
    /// Stacked from top to bottom; all have the same columns.
    let parts: [SourceRows]
    let format: Format
    let isVector: Bool

    var rows: Int { parts.reduce(0) { $0 + $1.count } }
    var columns: Int { parts[0].tensor.columns }

    static let groupSize = 32

    /// - Throws: `ModelError` of kind `unsupported` if the parts can't be in one tensor without loss.
    init(path: String, parts: [SourceRows]) throws {
        self.path = path
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
            for row in 0..<tensor.rows {
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

/// Which tensors of the model are made of which of the GGUF file.
struct ConversionPlan {
    let layers: [PlannedLayer]
    let tiedEmbeddings: Bool
    let vocabularySize: Int
    /// LongRoPE's factors, where the file has them.
    let shortFactors: [Float]?
    let longFactors: [Float]?

    init(_ gguf: GGUFFile, _ model: GGUFHyperparameters) throws {
        var source = PlanSource(gguf)
        var layers: [PlannedLayer] = []
        func add(_ path: String, _ parts: SourceRows...) throws {
            layers.append(try PlannedLayer(path: path, parts: parts))
        }

        let (hidden, wide) = (model.hiddenSize, model.intermediateSize)
        let embedding = try source.matrix("token_embd", rows: nil, columns: hidden)
        vocabularySize = embedding.count
        try add("model.embed_tokens", embedding)
        for index in 0..<model.layerCount {
            let (from, to) = ("blk.\(index).", "model.layers.\(index).")
            try add(to + "input_layernorm", source.vector(from + "attn_norm", count: hidden))
            if source.contains(from + "attn_qkv") {
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
            } else {
                try add(
                    to + "mlp.gate_up_proj",
                    source.matrix(from + "ffn_gate", rows: wide, columns: hidden),
                    source.matrix(from + "ffn_up", rows: wide, columns: hidden))
            }
            try add(to + "mlp.down_proj", source.matrix(from + "ffn_down", rows: hidden, columns: wide))
        }
        try add("model.norm", source.vector("output_norm", count: hidden))
        tiedEmbeddings = !source.contains("output")
        if !tiedEmbeddings {
            try add("lm_head", source.matrix("output", rows: vocabularySize, columns: hidden))
        }
        if model.architecture == .phi3,
            source.contains("rope_factors_short") || source.contains("rope_factors_long")
        {
            shortFactors = try source.floats("rope_factors_short", count: model.rotaryDimension / 2)
            longFactors = try source.floats("rope_factors_long", count: model.rotaryDimension / 2)
        } else {
            (shortFactors, longFactors) = (nil, nil)
        }
        if let rest = source.unused.min() { throw source.unexpected(rest) }
        self.layers = layers
    }
}

/// Hands out the GGUF's tensors, checked, and knows which are left.
private struct PlanSource {
    let gguf: GGUFFile
    private(set) var unused: Set<String>

    init(_ gguf: GGUFFile) {
        self.gguf = gguf
        unused = Set(gguf.tensors.keys)
    }

    func contains(_ name: String) -> Bool { gguf.tensors[name + ".weight"] != nil }

    func unexpected(_ name: String) -> ModelError {
        ModelError(
            .unsupported, path: gguf.file.path,
            "tensor \"\(name)\" has no place in a Phi-3 block; this model can't be converted.")
    }

    private mutating func take(_ name: String) throws -> GGUFTensor {
        guard let tensor = gguf.tensors[name + ".weight"] else {
            throw ModelError(.malformed, path: gguf.file.path, "there is no tensor \"\(name).weight\".")
        }
        unused.remove(tensor.name)
        return tensor
    }

    mutating func matrix(
        _ name: String, rows: Int?, columns: Int, interleavedHead: Int? = nil
    ) throws -> SourceRows {
        let tensor = try take(name)
        guard !tensor.isVector, tensor.rows == rows ?? tensor.rows, tensor.columns == columns else {
            throw ModelError(
                .malformed, path: gguf.file.path,
                "tensor \"\(tensor.name)\" has \(tensor.rows) rows of \(tensor.columns); "
                    + "\(rows.map(String.init) ?? "any number of") rows of \(columns) are expected.")
        }
        return SourceRows(tensor: tensor, interleavedHead: interleavedHead)
    }

    mutating func vector(_ name: String, count: Int) throws -> SourceRows {
        let tensor = try take(name)
        guard tensor.isVector, tensor.columns == count, tensor.type.bits == nil else {
            throw ModelError(
                .malformed, path: gguf.file.path,
                "tensor \"\(tensor.name)\" has \(tensor.rows) rows of \(tensor.columns) as \(tensor.type.name); "
                    + "\(count) unquantized values are expected.")
        }
        return SourceRows(tensor: tensor, interleavedHead: nil)
    }

    mutating func floats(_ name: String, count: Int) throws -> [Float] {
        let tensor = try vector(name, count: count).tensor
        guard tensor.type == .f32 else {
            throw ModelError(.unsupported, path: gguf.file.path, "tensor \"\(tensor.name)\" must be F32.")
        }
        let bytes = tensor.row(0)
        return (0..<count).map {
            Float(
                bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self))
            )
        }
    }
}
