import OperatingSystem

/// Finds a model's tensors, checks them against the shapes that the model needs, and copies them to MLX's memory:
/// quantized words as they are, floats as they are or in float32.
struct MLXWeightReader: WeightReading {
    typealias Operations = MLXOperations

    let mlx: MLXLibrary
    private let store: TensorStore
    private let inFloat32: Bool
    /// Paths of the layers that the adapter changes.
    private(set) var adapted: Set<String> = []
    /// Type of the hidden rows: the embedding's.
    private(set) var element: MLXArray.Element?

    init(_ mlx: MLXLibrary, _ store: TensorStore, inFloat32: Bool) {
        (self.mlx, self.store, self.inFloat32) = (mlx, store, inFloat32)
    }

    func contains(_ name: String) -> Bool { store.contains(name) }

    mutating func embedding(_ path: String, _ rows: Int, _ columns: Int) throws -> MLXMatrix {
        let matrix = try matrix(path, rows, columns)
        element = matrix.element
        return matrix
    }

    mutating func linear(
        _ path: String, _ rows: Int, _ columns: Int, hasBias: Bool, order: [Range<Int>]?
    ) throws -> MLXLinear {
        var linear = MLXLinear(matrix: try matrix(path, rows, columns, hasBias: hasBias))
        if hasBias { linear.bias = try vector(path + ".bias", rows) }
        if let order {
            let places = MLXArray.integers(mlx, order.flatMap { $0.map(Int32.init) })
            linear = MLXLinear(matrix: linear.matrix.taking(places), bias: linear.bias?.taking(places))
            // Or each would be there twice.
            try mlx.evaluate(linear.matrix.arrays + (linear.bias.map { [$0] } ?? []))
            return linear
        }
        if let part = try store.adapter?.factors(path, rows: rows, columns: columns) {
            adapted.insert(path)
            linear.adapter = (
                a: .values(mlx, part.a, .f32, [part.rank, columns]),
                b: .values(mlx, part.b.map { part.scale * $0 }, .f32, [rows, part.rank])
            )
            let weights = try store.linear(path, rows: rows, columns: columns, hasBias: hasBias)
            linear.rowScales = try part.rowScales(of: weights, ComputePool(threads: Processors.count))
                .map { .values(mlx, $0, .f32, [rows]) }
        }
        return linear
    }

    func linear(tiedTo embedding: MLXMatrix, hiding: [Int]) -> MLXLinear {
        guard !hiding.isEmpty else { return MLXLinear(matrix: embedding) }
        var bias = [Float](repeating: 0, count: embedding.arrays[0].dimension(0))
        for token in hiding { bias[token] = hiddenLogit }
        return MLXLinear(matrix: embedding, bias: .values(mlx, bias, .f32, [bias.count]))
    }

    func rmsNorm(_ path: String, _ count: Int, _ epsilon: Double) throws -> MLXNorm {
        MLXNorm(weight: try vector(path + ".weight", count), bias: nil, epsilon: Float(epsilon))
    }

    func layerNorm(_ path: String, _ count: Int, _ epsilon: Double, times factor: Float) throws -> MLXNorm {
        func scaled(_ array: MLXArray) -> MLXArray {
            factor == 1 ? array : array * array.scalar(Double(factor))
        }
        return MLXNorm(
            weight: scaled(try vector(path + ".weight", count)),
            bias: scaled(try vector(path + ".bias", count)), epsilon: Float(epsilon))
    }

    func floats(_ name: String, _ shapes: [Int]...) throws -> [Float] {
        preconditionFailure("models with mixers are refused before")
    }

    func floats(ofMatrix path: String, _ rows: Int, _ columns: Int, hasBias: Bool) throws -> [Float] {
        try floats(path)
    }

    /// Throws `UserError` of kind `unsupported`, too, if experts differ in precision.
    func experts(_ tensors: ExpertTensors) throws -> MLXExperts {
        let (h, inner) = (tensors.hiddenSize, tensors.intermediateSize)
        func stack(_ place: ExpertTensors.Destination, _ rows: Int, _ columns: Int) throws -> MLXMatrix {
            switch place {
            case .stacked(let path):
                let parts = try store.linears(path, stack: [tensors.count], rows: rows, columns: columns)
                return try self.stack(parts.map(matrix), path)
            case .apart(let paths, _):
                return try self.stack(paths.map { try matrix($0, rows, columns) }, paths[0])
            }
        }
        return MLXExperts(
            router: try matrix(tensors.router, tensors.count, h).float32,
            gate: try stack(tensors.gate, inner, h), up: try stack(tensors.up, inner, h),
            down: try stack(tensors.down, h, inner), mixer: tensors.mixer,
            numbers: .integers(mlx, (0..<tensors.count).map(Int32.init)))
    }

    private func matrix(_ path: String, _ rows: Int, _ columns: Int, hasBias: Bool = false) throws
        -> MLXMatrix
    {
        try matrix(store.linear(path, rows: rows, columns: columns, hasBias: hasBias))
    }

    private func vector(_ name: String, _ count: Int) throws -> MLXArray {
        try array(store.floats(name, shape: [count]), isFloat: true)
    }

    private func stack(_ matrices: [MLXMatrix], _ path: String) throws -> MLXMatrix {
        guard let stack = MLXMatrix.stack(matrices) else {
            throw UserError(
                .unsupported, at: store.folder,
                "the experts beside \"\(path)\" differ in precision, which the engine mlx can't run; use \"engine: cpu\"."
            )
        }
        // Or each would be there twice.
        try mlx.evaluate(stack.arrays)
        return stack
    }

    private func matrix(_ tensors: LinearTensors) throws -> MLXMatrix {
        MLXMatrix(
            weight: try array(tensors.weight, isFloat: tensors.quantization == nil),
            quantization: try tensors.quantization.map {
                .init(
                    scales: try array($0.scales, isFloat: true), biases: try array($0.biases, isFloat: true),
                    group: $0.parameters.groupSize, bits: $0.parameters.bits)
            })
    }

    private func array(_ tensor: TensorView, isFloat: Bool) throws -> MLXArray {
        let element: MLXArray.Element
        switch tensor.type {
        case .u32: element = .u32
        case .f16: element = .f16
        case .bf16: element = .bf16
        case .f32: element = .f32
        default: throw tensor.fault(.malformed, "has type \(tensor.type); F16, BF16, F32 or U32 is needed.")
        }
        if isFloat {
            let rows = tensor.shape.dropLast().reduce(1, *)
            try tensor.checkFinite(rows: 0..<rows, of: rows)
            // MLX's own conversion of 16-bit floats takes minutes on a processor.
            if inFloat32, element != .f32 { return .values(mlx, try tensor.floats(), .f32, tensor.shape) }
        }
        return tensor.withBytes { MLXArray.copy(mlx, $0, element, tensor.shape) }
    }
}
