/// Hands out the GGUF's tensors, checked, and knows which are left.
struct PlanSource {
    let gguf: GGUFFile
    private(set) var unused: Set<String>

    init(_ gguf: GGUFFile) {
        self.gguf = gguf
        unused = Set(gguf.tensors.keys)
    }

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
    mutating func ropeFactors(_ model: GGUFHyperparameters) throws -> (short: [Float], long: [Float])? {
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
