/// What a matmul multiplies, made for each row on the way into it.
enum RowInput {
    /// x / sqrt(mean(x^2) + epsilon) * weight of the hidden row x; weight [hidden size].
    case rmsNorm(_ weight: [Float], _ epsilon: Float)
    /// What attention gave.
    case attended
    /// silu(gate) * up of the last matmul's results, whose first half are the gate's, the second up's.
    case gatedSilu
}
