import BatchEngine

/// Scores for tests and measurements of quality.
extension ModelEngine {
    /// Returns the natural-log probability of each of tokens[from...] after those before it; from >= 1.
    /// - Throws: as `admit`; `UserError` of kind `malformed` if a logit is not finite.
    package func logProbabilities(of tokens: [Int32], from: Int) throws -> [Double] {
        precondition(from >= 1)
        guard tokens.count > from else { return [] }
        var values: [Double] = []
        // Nothing follows the last token, so it need not be computed.
        try scored(tokens.dropLast(), logitRows: tokens.count - from) { piece in
            for number in piece.rows {
                let row = UnsafePointer(piece.row(number))
                guard piece.isFinite(number) else {
                    throw UserError(
                        .malformed,
                        "the logits after \(from + number) tokens are not finite: the model's weights are damaged"
                    )
                }
                let softmax = logits.sampler.softmax(row, count: piece.count, scratch: piece.scratch)
                values.append(softmax.exactLogprob(row[Int(tokens[from + number])]))
            }
        }
        return values
    }

    /// Runs `tokens` as their own sequence, and passes the last `logitRows` rows of logits on in pieces.
    /// - Throws: `UserError` if the model can't serve them, or there is no room; what `use` throws.
    func scored(
        _ tokens: some Collection<Int32>, logitRows: Int, _ use: (LogitPiece) throws -> Void
    ) throws {
        let tokens = Array(tokens)
        if let fault = blocks.fault(of: tokens) { throw UserError(.badRequest, fault) }
        // Not admitted, it shares nothing, so all rows are computed.
        let cache = SequenceCache(ceiling: tokens.count)
        guard blocks.extend(cache, to: tokens.count) else {
            throw UserError(.resources, "the KV cache has no room for \(tokens.count) tokens")
        }
        defer { blocks.release(cache) }
        let run = RowRun(
            tokens: tokens[...], start: 0, blocks: cache.blocks,
            longRope: limits.usesLongRope(length: tokens.count) ?? false, logitRows: logitRows)
        try forward([run], use: use)
    }
}
