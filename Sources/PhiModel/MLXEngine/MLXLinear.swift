import CMLX

/// A weight matrix [rows, columns] in MLX's memory, or a stack of them [count, rows, columns].
struct MLXMatrix {
    enum Values {
        /// As the checkpoint has them: words, scales and biases.
        case quantized(MLXArray, scales: MLXArray, biases: MLXArray, group: Int, bits: Int)
        case plain(MLXArray)
    }

    let values: Values

    /// Type of its products, where the input does not ask for more.
    var element: MLXArray.Element? {
        switch values {
        case .quantized(_, let scales, _, _, _): scales.element
        case .plain(let weight): weight.element
        }
    }

    var arrays: [MLXArray] {
        switch values {
        case .quantized(let words, let scales, let biases, _, _): [words, scales, biases]
        case .plain(let weight): [weight]
        }
    }

    /// x [rows, columns] times it.
    func multiplied(by x: MLXArray) -> MLXArray {
        if isBetterExpanded(x) { return expanded(times: x) }
        switch values {
        case .quantized(let words, let scales, let biases, let group, let bits):
            return x.made(words, scales, biases) {
                $0.quantized_matmul(
                    x.handle, words.handle, scales.handle, biases.handle, Int32(group), Int32(bits))
            }
        case .plain(let weight): return x.made(weight) { $0.matmul(x.handle, weight.handle) }
        }
    }

    /// x [..., 1, columns] times the matrices `indices` [...] of a stack.
    func multiplied(by x: MLXArray, matrices indices: MLXArray) -> MLXArray {
        switch values {
        case .quantized(let words, let scales, let biases, let group, let bits):
            x.made(words, scales, biases, indices) {
                $0.gather_quantized_matmul(
                    x.handle, words.handle, scales.handle, biases.handle, indices.handle, Int32(group),
                    Int32(bits))
            }
        case .plain(let weight):
            x.made(weight, indices) { $0.gather_matmul(x.handle, weight.handle, indices.handle) }
        }
    }

    /// The matrix of its rows at `indices`.
    func taking(_ indices: MLXArray) -> MLXMatrix {
        switch values {
        case .quantized(let words, let scales, let biases, let group, let bits):
            MLXMatrix(
                values: .quantized(
                    words.taking(indices), scales: scales.taking(indices), biases: biases.taking(indices),
                    group: group, bits: bits))
        case .plain(let weight): MLXMatrix(values: .plain(weight.taking(indices)))
        }
    }

    /// Its rows at `indices`.
    func rows(at indices: MLXArray) -> MLXArray {
        picked { $0.taking(indices) }
    }

    /// Some of its rows, as floats.
    func picked(_ pick: (MLXArray) -> MLXArray) -> MLXArray {
        switch values {
        case .quantized(let words, let scales, let biases, let group, let bits):
            let (words, scales, biases) = (pick(words), pick(scales), pick(biases))
            return words.made(scales, biases) {
                $0.dequantize(words.handle, scales.handle, biases.handle, Int32(group), Int32(bits))
            }
        case .plain(let weight): return pick(weight)
        }
    }

    /// The same numbers, with products in float32.
    var float32: MLXMatrix {
        switch values {
        case .quantized(let words, let scales, let biases, let group, let bits):
            MLXMatrix(
                values: .quantized(
                    words, scales: scales.converted(to: .f32), biases: biases.converted(to: .f32),
                    group: group,
                    bits: bits))
        case .plain(let weight): MLXMatrix(values: .plain(weight.converted(to: .f32)))
        }
    }

    /// Matrices of one shape and precision as a stack; nil if they are not of one precision.
    static func stack(_ matrices: [MLXMatrix]) -> MLXMatrix? {
        var parts: [[MLXArray]] = []
        var precision: (group: Int, bits: Int)?
        for matrix in matrices {
            if case .quantized(_, _, _, let group, let bits) = matrix.values {
                if let precision, precision != (group, bits) { return nil }
                precision = (group, bits)
            }
            parts.append(matrix.arrays)
        }
        guard let count = parts.first?.count, parts.allSatisfy({ $0.count == count }) else { return nil }
        let stacks = (0..<count).map { place in MLXArray.stacked(parts.map { $0[place] }) }
        guard let precision else { return MLXMatrix(values: .plain(stacks[0])) }
        return MLXMatrix(
            values: .quantized(
                stacks[0], scales: stacks[1], biases: stacks[2], group: precision.group, bits: precision.bits)
        )
    }
}

/// A linear layer: a matrix, and perhaps a bias and an adapter's part.
struct MLXLinear {
    let matrix: MLXMatrix
    /// [rows]
    var bias: MLXArray?
    /// a [rank, columns] and b [rows, rank], scaled, in float32.
    var adapter: (a: MLXArray, b: MLXArray)?
    /// Factors of the results, before the bias is added [rows]; nil unless the adapter is DoRA.
    var rowScales: MLXArray?

    func callAsFunction(_ x: MLXArray) -> MLXArray {
        var y = matrix.multiplied(by: x)
        if let adapter, let element = y.element {
            let inner = MLXMatrix(values: .plain(adapter.a)).multiplied(by: x.converted(to: .f32))
            y = y + MLXMatrix(values: .plain(adapter.b)).multiplied(by: inner).converted(to: element)
            if let rowScales { y = y * rowScales.converted(to: element) }
        }
        if let bias { y = y + bias }
        return y
    }
}
