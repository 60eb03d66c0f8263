/// What a matmul multiplies, made for each row on the way into it.
enum RowInput {
    /// x / sqrt(mean(x^2) + epsilon) * weight of the hidden row x; weight [hidden size].
    case rmsNorm(_ weight: [Float], _ epsilon: Float)
    /// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * weight + bias of the hidden row x; both [hidden size].
    case layerNorm(_ norm: LayerNorm, _ epsilon: Float)
    /// What the last norm gave, if it was of the same layer and there was no gatedSilu since.
    case normed
    /// What attention gave.
    case attended
    /// silu(gate) * up of the last matmul's results, whose first half are the gate's, the second up's.
    case gatedSilu
    /// gelu(x) of the last matmul's results x, in its tanh form.
    case gelu

    var isNorm: Bool {
        switch self {
        case .rmsNorm, .layerNorm, .normed: true
        case .attended, .gatedSilu, .gelu: false
        }
    }
}
