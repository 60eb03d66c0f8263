import Errors

extension WeightPlan {
    /// Advice for a model without quantized layers; nil for any other, and if it would save too little.
    func quantizationAdvice(_ store: TensorStore) -> String? {
        let parameters = QuantizationParameters.standard
        let before = store.byteCount
        var after = before
        for matrix in matrices {
            let tensors = matrix.tensors
            guard tensors.quantization == nil else { return nil }
            guard tensors.columns % parameters.groupSize == 0 else { continue }
            after +=
                parameters.byteCount(
                    rows: tensors.rows, columns: tensors.columns, floats: tensors.weight.type)
                - tensors.weight.range.count
        }
        guard before - after >= 1_000_000 else { return nil }
        return
            "this model is not quantized: \(byteText(before)) of weights; \"phibatch quantize MODEL OUT\" makes it "
            + byteText(after)
    }
}

extension QuantizationParameters {
    /// Default precision of quantizing.
    package static let standard = QuantizationParameters(groupSize: 64, bits: 4)

    /// Returns the bytes of a matrix with its scales and biases of type `floats`.
    func byteCount(rows: Int, columns: Int, floats: TensorType) -> Int {
        rows * (columns * bits / 8 + 2 * columns / groupSize * (floats.itemSize ?? 0))
    }
}
