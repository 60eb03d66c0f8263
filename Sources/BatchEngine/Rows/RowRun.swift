/// Consecutive rows of one sequence in a step.
package struct RowRun: Sendable {
    package var tokens: ArraySlice<Int32>
    /// The position of the first of `tokens`.
    package var start: Int
    /// The sequence's blocks in the KV cache; they have room for all its positions.
    package var blocks: [Int32]
    /// Long rather than short factors, where the model has two sets.
    package var longRope: Bool
    /// After how many tokens, counted from the last one backwards, logits are wanted.
    package var logitRows: Int
    /// The sequence's slot, where the model has such; nil is the spare one.
    package var slot: Int32?

    package init(
        tokens: ArraySlice<Int32>, start: Int, blocks: [Int32], longRope: Bool, logitRows: Int,
        slot: Int32? = nil
    ) {
        self.slot = slot
        self.tokens = tokens
        self.start = start
        self.blocks = blocks
        self.longRope = longRope
        self.logitRows = logitRows
    }

    /// The same rows in parts of at most so many.
    package func parts(of count: Int) -> [RowRun] {
        stride(from: 0, to: tokens.count, by: count).map { first in
            var part = self
            part.tokens = tokens.dropFirst(first).prefix(count)
            part.start = start + first
            let rest = tokens.count - first - part.tokens.count
            part.logitRows = min(part.tokens.count, max(0, logitRows - rest))
            return part
        }
    }

    /// The rows with logits alone; nil if there are none.
    package var withLogits: RowRun? {
        guard logitRows > 0 else { return nil }
        var run = self
        run.start += tokens.count - logitRows
        run.tokens = tokens.suffix(logitRows)
        return run
    }
}
