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
    /// Without ".weight".
    let path: String
    /// End of the name where the layer is not quantized: "weight" or "bias".
    let suffix: String
    /// Number of matrices of one shape that the rows are, one after the other; nil of one.
    let stack: Int?
    /// Stacked from top to bottom; all have the same columns.
    let parts: [SourceRows]
    /// MLX's quantization in groups of 32 columns; nil of floats.
    let parameters: QuantizationParameters?
    /// Type of scales and biases, or of the floats.
    let floats: TensorType
    let outputs: [SafetensorsWriter.Announcement]
    /// Of each part.
    let squares: [BlockSquares]

    /// - Throws: `UserError` of kind `unsupported` if the parts can't be in one tensor without loss.
    init(path: String, suffix: String = "weight", stack: Int? = nil, parts: [SourceRows]) throws {
        self.path = path
        self.suffix = suffix
        self.stack = stack
        self.parts = parts
        squares = parts.map { _ in BlockSquares() }
        let bits = parts.map(\.tensor.type.bits)
        let (rows, columns) = (parts.reduce(0) { $0 + $1.count }, parts[0].columns)
        let shape =
            parts[0].tensor.isVector ? [columns] : (stack.map { [$0, rows / $0] } ?? [rows]) + [columns]
        // A narrower part keeps its codes, scales and biases: it only uses the lower codes.
        parameters = bits.compactMap { $0 }.max().map { .init(groupSize: 32, bits: $0) }
        guard parameters == nil || !bits.contains(nil) else {
            let names = parts.map { "\"\($0.tensor.name)\" (\($0.tensor.type.name))" }
            throw UserError(
                .unsupported, at: parts[0].tensor.file.path,
                "tensors \(names.joined(separator: ", ")) become one, but only some are quantized.")
        }
        let types = Set(parts.map(\.tensor.type))
        floats =
            parameters != nil
            ? try Self.scaleType(of: parts)
            : types == [.f16] ? .f16 : types == [.bf16] ? .bf16 : .f32  // F32 holds all of both.
        outputs = SafetensorsWriter.Announcement.layer(
            path, suffix: suffix, shape: shape, parameters, floats: floats)
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
                        throw UserError(
                            .malformed, at: tensor.file.path,
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
}
