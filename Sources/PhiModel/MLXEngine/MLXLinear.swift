import CMLX

/// A weight matrix [rows, columns] in MLX's memory, or a stack of them [count, rows, columns].
struct MLXMatrix {
    /// Scales and biases of groups of columns, and the bits of a value.
    struct Quantization {
        var scales: MLXArray
        var biases: MLXArray
        let group: Int
        let bits: Int
    }

    /// Floats, or words if it is quantized.
    var weight: MLXArray
    /// As in the checkpoint; nil for floats.
    var quantization: Quantization?

    /// Type of its products, unless the input has a higher precision.
    var element: MLXArray.Element? { (quantization?.scales ?? weight).element }

    var arrays: [MLXArray] { [weight] + (quantization.map { [$0.scales, $0.biases] } ?? []) }

    /// Returns x [rows, columns] times this matrix.
    func multiplied(by x: MLXArray) -> MLXArray {
        if isBetterExpanded(x) { return expanded(times: x) }
        guard let q = quantization else { return x.made(weight) { $0.matmul(x.handle, weight.handle) } }
        return x.made(weight, q.scales, q.biases) {
            $0.quantized_matmul(
                x.handle, weight.handle, q.scales.handle, q.biases.handle, Int32(q.group), Int32(q.bits))
        }
    }

    /// Returns x [..., 1, columns] times the matrices `indices` [...] of a stack.
    func multiplied(by x: MLXArray, matrices indices: MLXArray) -> MLXArray {
        guard let q = quantization else {
            return x.made(weight, indices) { $0.gather_matmul(x.handle, weight.handle, indices.handle) }
        }
        return x.made(weight, q.scales, q.biases, indices) {
            $0.gather_quantized_matmul(
                x.handle, weight.handle, q.scales.handle, q.biases.handle, indices.handle, Int32(q.group),
                Int32(q.bits))
        }
    }

    /// Returns the matrix of its rows at `indices`.
    func taking(_ indices: MLXArray) -> MLXMatrix { picking { $0.taking(indices) } }

    /// Returns its rows at `indices` as floats.
    func rows(at indices: MLXArray) -> MLXArray { picked { $0.taking(indices) } }

    private func picking(_ pick: (MLXArray) -> MLXArray) -> MLXMatrix {
        var some = self
        some.weight = pick(weight)
        if let q = quantization {
            some.quantization?.scales = pick(q.scales)
            some.quantization?.biases = pick(q.biases)
        }
        return some
    }

    /// Returns some of its rows as floats.
    func picked(_ pick: (MLXArray) -> MLXArray) -> MLXArray {
        let some = picking(pick)
        guard let q = some.quantization else { return some.weight }
        return some.weight.made(q.scales, q.biases) {
            $0.dequantize(
                some.weight.handle, q.scales.handle, q.biases.handle, Int32(q.group), Int32(q.bits))
        }
    }

    /// The same numbers, with products in float32.
    var float32: MLXMatrix {
        var wide = self
        if let q = quantization {
            wide.quantization?.scales = q.scales.converted(to: .f32)
            wide.quantization?.biases = q.biases.converted(to: .f32)
        } else {
            wide.weight = weight.converted(to: .f32)
        }
        return wide
    }

    /// Stacks matrices of one shape and precision; nil if their precisions differ.
    static func stack(_ matrices: [MLXMatrix]) -> MLXMatrix? {
        guard var stack = matrices.first else { return nil }
        let first = stack.quantization
        let isAlike = matrices.allSatisfy {
            $0.quantization?.bits == first?.bits && $0.quantization?.group == first?.group
        }
        guard isAlike else { return nil }
        stack.weight = .stacked(matrices.map(\.weight))
        stack.quantization?.scales = .stacked(matrices.compactMap(\.quantization?.scales))
        stack.quantization?.biases = .stacked(matrices.compactMap(\.quantization?.biases))
        return stack
    }
}

/// A linear layer: a matrix, with an optional bias and adapter.
struct MLXLinear {
    let matrix: MLXMatrix
    /// [rows]
    var bias: MLXArray?
    /// a [rank, columns] and b [rows, rank], scaled, in float32.
    var adapter: (a: MLXArray, b: MLXArray)?
    /// Factors of the results before the bias [rows]; nil unless the adapter is DoRA.
    var rowScales: MLXArray?

    func callAsFunction(_ x: MLXArray) -> MLXArray {
        var y = matrix.multiplied(by: x)
        if let adapter, let element = y.element {
            let inner = MLXMatrix(weight: adapter.a).multiplied(by: x.converted(to: .f32))
            y = y + MLXMatrix(weight: adapter.b).multiplied(by: inner).converted(to: element)
            if let rowScales { y = y * rowScales.converted(to: element) }
        }
        if let bias { y = y + bias }
        return y
    }
}
