import OperatingSystem

/// The weights [rows, columns] of a linear layer or an embedding, as the checkpoint has them.
package struct LinearTensors: Sendable {
    /// MLX's affine quantization: value = scale * q + bias, by groups of columns.
    package struct Quantization: Sendable {
        package let parameters: QuantizationParameters
        /// F16, BF16 or F32 `[rows, columns / groupSize]`, both of one type.
        package let scales, biases: TensorView
    }

    package let rows: Int
    package let columns: Int
    /// F16, BF16 or F32 `[rows, columns]`; quantized, U32 `[rows, columns * bits / 32]`: each row one little-endian bit
    /// stream, first column lowest.
    package let weight: TensorView
    /// Nil of floats.
    package let quantization: Quantization?

    /// The tensors of floats: scales and biases, or the weight.
    var floats: [TensorView] { quantization.map { [$0.scales, $0.biases] } ?? [weight] }
}

extension TensorStore {
    /// The layer at `path` (as in "model.layers.0.mlp.down_proj"), checked against what the model needs.
    /// It is quantized exactly if it has scales.
    /// - Throws: `UserError` naming the tensor, what was found and what is expected.
    package func linear(
        _ path: String, rows: Int, columns: Int, hasBias: Bool = false
    ) throws -> LinearTensors {
        try linears(path, stack: [], rows: rows, columns: columns, hasBias: hasBias)[0]
    }

    /// The layers at `path`: one, or a stack of so many, whose tensors have one dimension more, the first.
    /// - Throws: as `linear`.
    package func linears(
        _ path: String, stack: [Int], rows: Int, columns: Int, hasBias: Bool = false
    ) throws -> [LinearTensors] {
        let size = stack.map { "\($0) x " }.joined() + "\(rows) x \(columns)"
        if !hasBias, contains(path + ".bias") {
            throw UserError(
                .unsupported, at: folder, "tensor \"\(path).bias\": this model has no bias there.")
        }
        let weight = try tensor(path + ".weight")
        guard contains(path + ".scales") else {
            guard weight.type.isWeightFloat else {
                throw weight.fault(
                    .malformed,
                    "has type \(weight.type) and there is no \"\(path).scales\"; "
                        + "a layer that is not quantized must be F16, BF16 or F32.")
            }
            try weight.expect(shape: stack + [rows, columns])
            return weight.layers(stack).map {
                LinearTensors(rows: rows, columns: columns, weight: $0, quantization: nil)
            }
        }
        let parameters = try layerParameters(path)
        let (bits, groupSize) = (parameters.bits, parameters.groupSize)
        let described = "\(bits) bits in groups of \(groupSize)"
        guard columns % groupSize == 0, columns * bits % 32 == 0 else {
            throw weight.fault(
                .malformed, "needs \(columns) columns, which can't be stored as \(described).")
        }
        guard weight.type == .u32 else {
            throw weight.fault(.malformed, "has type \(weight.type); a layer with scales must be U32.")
        }
        try weight.expect(
            [.u32], shape: stack + [rows, columns * bits / 32], because: " (\(size), \(described))")
        let scales = try tensor(path + ".scales")
        let biases = try tensor(path + ".biases")
        try scales.expect()
        guard biases.type == scales.type else {
            throw biases.fault(.malformed, "has type \(biases.type), but the scales have \(scales.type).")
        }
        for tensor in [scales, biases] {
            try tensor.expect(
                shape: stack + [rows, columns / groupSize], because: " (\(size), \(described))")
        }
        return zip(weight.layers(stack), zip(scales.layers(stack), biases.layers(stack))).map {
            LinearTensors(
                rows: rows, columns: columns, weight: $0,
                quantization: .init(parameters: parameters, scales: $1.0, biases: $1.1))
        }
    }

    /// The tensor of this name, as a norm's weight or a layer's bias: F16, BF16 or F32.
    /// - Throws: `UserError` naming the tensor, what was found and what is expected.
    package func floats(_ name: String, shape: [Int]) throws -> TensorView {
        let tensor = try tensor(name)
        try tensor.expect(shape: shape)
        return tensor
    }

    private func layerParameters(_ path: String) throws -> QuantizationParameters {
        let config = Paths.join(folder, "config.json")
        guard let quantization else {
            throw UserError(
                .malformed, at: config,
                "has no \"quantization\", but the layer \"\(path)\" is quantized (it has scales).")
        }
        guard let parameters = quantization.parameters(for: path) else {
            throw UserError(
                .malformed, at: config,
                "says in \"quantization\" that \"\(path)\" is not quantized, but it has scales.")
        }
        return parameters
    }
}

extension TensorView {
    /// Each layer's own part, if there is a stack of them; else the tensor itself.
    fileprivate func layers(_ stack: [Int]) -> [TensorView] {
        guard let count = stack.first else { return [self] }
        let size = range.count / count
        return (0..<count).map { number in
            let begin = range.lowerBound + number * size
            return TensorView(
                name: "\(name)[\(number)]", type: type, shape: Array(shape.dropFirst()),
                range: begin..<begin + size, file: file)
        }
    }
}
