import CPhiKernels

/// What tests and measurements of quality ask of a model.
extension PhiEngine {
    /// Logits [vocabularySize] after the last of `tokens`, computed from nothing.
    /// - Throws: as `admit`.
    package func logits(_ tokens: [Int32]) throws -> [Float] {
        try scored(tokens, logitRows: 1) { logits, _ in
            Array(UnsafeBufferPointer(start: logits, count: limits.vocabularySize))
        }
    }

    /// The natural-log probability of each of tokens[from...] after those before it; from >= 1.
    /// - Throws: as `admit`; `ModelError` of kind `malformed` if a logit is not finite.
    package func logProbabilities(of tokens: [Int32], from: Int) throws -> [Double] {
        precondition(from >= 1)
        guard tokens.count > from else { return [] }
        // Nothing follows the last token, so it need not be computed.
        return try scored(tokens.dropLast(), logitRows: tokens.count - from) { logits, stride in
            let count = limits.vocabularySize
            let scratch = Buffer<Float>()
            try scratch.reserve(count)
            return try (from..<tokens.count).map { place in
                let row = logits + (place - from) * stride
                guard FiniteLogits.check(row, count: count) else {
                    throw ModelError(
                        .malformed,
                        "the logits after \(place) tokens are not finite: the model's weights are damaged")
                }
                let best = row[kernels.table.argmax(row, count)]
                let sum = kernels.table.exponentials(row, count, best, 1, scratch.pointer)
                return Double(row[Int(tokens[place])] - best) - phi_log(Double(sum))
            }
        }
    }
}
