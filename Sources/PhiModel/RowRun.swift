/// Consecutive rows of one sequence in a step.
struct RowRun {
    var tokens: ArraySlice<Int32>
    /// The position of the first of `tokens`.
    var start: Int
    /// The sequence's blocks in the KV cache; they have room for all its positions.
    var blocks: [Int32]
    /// Long rather than short factors, where the model has two sets.
    var longRope: Bool
    /// After how many tokens, counted from the last one backwards, logits are wanted.
    var logitRows: Int
}
