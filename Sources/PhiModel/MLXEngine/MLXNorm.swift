/// RMSNorm, or LayerNorm, which has a bias.
struct MLXNorm {
    let weight: MLXArray
    let bias: MLXArray?
    let epsilon: Float

    /// Computes the norm over the last axis.
    func callAsFunction(_ x: MLXArray) -> MLXArray {
        bias.map { x.layerNorm(weight, $0, epsilon) } ?? x.rmsNorm(weight, epsilon)
    }
}
