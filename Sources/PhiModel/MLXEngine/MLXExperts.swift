/// Gated feed-forward networks, of which each row uses two by `SparseMixer`'s rule.
struct MLXExperts {
    /// In float32, as its results decide the choice.
    let router: MLXMatrix
    /// Stacks of all experts.
    let gate, up, down: MLXMatrix
    let mixer: SparseMixer
    /// [experts]: their indices.
    let numbers: MLXArray

    /// Returns the weighted sum of the results of each row's two experts for x [rows, hidden size].
    func callAsFunction(_ x: MLXArray) -> MLXArray {
        let (rows, h) = (x.dimension(0), x.dimension(1))
        let scores = router.multiplied(by: x.converted(to: .f32))
        let nothing = scores.scalar(-.infinity)
        let first = scores.placeOfLargest
        let others = numbers.isEqual(to: first.converted(to: .i32)).select(nothing, scores)
        let second = others.placeOfLargest
        func weight(_ left: MLXArray) -> MLXArray {
            let top = left.largest
            // Excluded scores have a distance too; their part of the sum is zero either way.
            let distance = (top - scores) / scores.magnitude.maximum(top)
            let isFar = distance.isGreater(than: scores.scalar(Double(2 * mixer.jitter)))
            let part = (isFar.select(nothing, left) - top).exponential
            return scores.scalar(1) / part.sum
        }
        let experts = MLXArray.concatenated([first, second], axis: 1)
        let weights = MLXArray.concatenated([weight(scores), weight(others)], axis: 1)
        let input = x.reshaped(rows, 1, 1, h)
        let gates = gate.multiplied(by: input, matrices: experts)
        let ups = up.multiplied(by: input, matrices: experts)
        let made = down.multiplied(by: gates.silu * ups, matrices: experts).reshaped(rows, 2, h)
        let weighted = made.converted(to: .f32) * weights.reshaped(rows, 2, 1)
        let sum = weighted.slice(axis: 1, 0..<1) + weighted.slice(axis: 1, 1..<2)
        return sum.reshaped(rows, h).converted(to: x.element ?? .f32)
    }
}
