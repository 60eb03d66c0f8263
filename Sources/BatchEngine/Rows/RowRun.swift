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

    package init(tokens: ArraySlice<Int32>, start: Int, blocks: [Int32], longRope: Bool, logitRows: Int) {
        self.tokens = tokens
        self.start = start
        self.blocks = blocks
        self.longRope = longRope
        self.logitRows = logitRows
    }
}
