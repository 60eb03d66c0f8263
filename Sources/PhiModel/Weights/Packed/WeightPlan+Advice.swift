import Errors

extension WeightPlan {
    /// Advice for a model of which no layer is quantized; nil for any other, and where
    /// it would save nothing worth a word.
    func quantizationAdvice(_ store: TensorStore) -> String? {
        let parameters = QuantizationParameters.standard
        let before = store.byteCount
        var after = before
        for matrix in matrices {
            guard case .plain(let tensor, let rows, let columns) = matrix.tensors else { return nil }
            guard columns % parameters.groupSize == 0 else { continue }
            after +=
                parameters.byteCount(rows: rows, columns: columns, floats: tensor.type) - tensor.range.count
        }
        guard before - after >= 1_000_000 else { return nil }
        return
            "this model is not quantized: \(byteText(before)) of weights; \"phibatch quantize MODEL OUT\" makes it "
            + byteText(after)
    }
}

extension QuantizationParameters {
    /// Precision that quantizing takes where nothing else is said.
    package static let standard = QuantizationParameters(groupSize: 64, bits: 4)

    /// Bytes of a matrix with its scales and biases, which are of `floats`.
    func byteCount(rows: Int, columns: Int, floats: TensorType) -> Int {
        rows * (columns * bits / 8 + 2 * columns / groupSize * (floats.itemSize ?? 0))
    }
}
