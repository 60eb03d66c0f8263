/// Consecutive rows of one sequence in a pass.
package struct RowRun: Sendable {
    package var tokens: ArraySlice<Int32>
    /// Position of the first of `tokens`.
    package var start: Int
    /// The sequence's blocks in the KV cache, with room for all its positions.
    package var blocks: [Int32]
    /// Whether to use the long rotary factors, if the model has two sets.
    package var longRope: Bool
    /// Number of rows at the end whose logits are needed.
    package var logitRows: Int
    /// The sequence's slot, if the model has slots; nil is the spare one.
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

    /// Returns the same rows in parts of at most so many.
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

    /// The rows with logits only; nil if there are none.
    package var withLogits: RowRun? {
        guard logitRows > 0 else { return nil }
        var run = self
        run.start += tokens.count - logitRows
        run.tokens = tokens.suffix(logitRows)
        return run
    }
}
