/// What tests and measurements of quality ask of a model.
extension PhiEngine {
    /// Logits [vocabularySize] after the last of `tokens`, computed from nothing.
    /// - Throws: as `admit`.
    package func logits(_ tokens: [Int32]) throws -> [Float] {
        var row: [Float] = []
        try scored(tokens, logitRows: 1) { piece in
            row = Array(UnsafeBufferPointer(start: piece.logits, count: piece.count))
        }
        return row
    }

    /// The natural-log probability of each of tokens[from...] after those before it; from >= 1.
    /// - Throws: as `admit`; `ModelError` of kind `malformed` if a logit is not finite.
    package func logProbabilities(of tokens: [Int32], from: Int) throws -> [Double] {
        precondition(from >= 1)
        guard tokens.count > from else { return [] }
        let sampler = Sampler(kernels: kernels)
        let scratch = Buffer<Float>()
        var values: [Double] = []
        // Nothing follows the last token, so it need not be computed.
        try scored(tokens.dropLast(), logitRows: tokens.count - from) { piece throws(ModelError) in
            try scratch.reserve(piece.count)
            for number in piece.rows {
                let row = UnsafePointer(piece.row(number))
                guard FiniteLogits.check(row, count: piece.count) else {
                    throw ModelError(
                        .malformed,
                        "the logits after \(from + number) tokens are not finite: the model's weights are damaged"
                    )
                }
                let softmax = sampler.softmax(row, count: piece.count, scratch: scratch.pointer)
                values.append(softmax.exactLogprob(row[Int(tokens[from + number])]))
            }
        }
        return values
    }
}
