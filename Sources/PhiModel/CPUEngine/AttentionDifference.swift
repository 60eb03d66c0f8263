import CPhiKernels

/// Weights of differential attention (Ye et al. 2024, arXiv 2410.05258), which combines two adjacent heads into
/// norm(first - lambda * second), each with the values of both.
package struct DifferenceWeights: Sendable {
    let lambda: Float
    /// RMSNorm [2 * head dimension], with the last factor, 1 - the initial lambda, in its weight.
    let norm: Norm

    /// - Parameters:
    ///   - exponents: of the two terms of lambda.
    ///   - layer: from 0; the initial lambda is 0.8 - 0.6 * exp(-0.3 * layer).
    init(exponents: (Double, Double), weight: [Float], layer: Int) {
        let initial = 0.8 - 0.6 * phi_exp(-0.3 * Double(layer))
        lambda = Float(phi_exp(exponents.0) - phi_exp(exponents.1) + initial)
        norm = Norm(weight: weight.map { $0 * Float(1 - initial) }, bias: nil, epsilon: 1e-5)
    }
}

/// Computes differential attention by ordinary attention. The cache stores two adjacent heads of keys as one, and their
/// values too: a query that is zero in one half gets the scores of the other half's keys, and the values of both.
final class AttentionDifference {
    private let kernels: PhiKernels
    private let pool: ComputePool

    /// [rows][heads][2 * head dimension], and keys and values behind them.
    private let widened = Buffer<Float>()
    /// [rows][heads][2 * head dimension]
    private let attended = Buffer<Float>()

    init(_ kernels: PhiKernels, _ pool: ComputePool) {
        (self.kernels, self.pool) = (kernels, pool)
    }

    /// out [rows][heads * head dimension] = the differences of the results of `attend` for wide queries.
    /// - Parameters:
    ///   - qkv: [rows][stride]: queries, and the layer's own keys and values if it has any.
    ///   - attend: receives rows of queries, keys and values with wide heads, their stride, and the output.
    func run(
        _ weights: DifferenceWeights, _ shape: AttentionShape, qkv: UnsafePointer<Float>, stride: Int,
        rows: Int, into out: UnsafeMutablePointer<Float>,
        attend: (UnsafeMutablePointer<Float>, _ stride: Int, UnsafeMutablePointer<Float>) -> Void
    ) throws(UserError) {
        let (heads, n) = (shape.headCount, shape.headDimension)
        let keysAndValues = shape.keysLayer == nil ? 2 * shape.keyWidth : 0
        let (narrow, wide) = (shape.queryWidth, 2 * shape.queryWidth)
        let length = wide + keysAndValues
        try widened.reserve(rows * length)
        try attended.reserve(rows * wide)
        let (widened, attended) = (widened.pointer, attended.pointer)
        pool.runRows(rows) { row in
            let (from, to) = (qkv + row * stride, widened + row * length)
            for head in 0..<heads {
                let own = to + 2 * head * n
                own.update(repeating: 0, count: 2 * n)
                (own + head % 2 * n).update(from: from + head * n, count: n)
            }
            (to + wide).update(from: from + narrow, count: keysAndValues)
        }
        attend(widened, length, attended)
        let lambda = weights.lambda
        weights.norm.lend { norm in
            pool.runRows(rows) { row in
                for pair in 0..<heads / 2 {
                    let first = attended + row * wide + 4 * pair * n
                    let second = first + 2 * n
                    // Each operation rounds once, without fused multiply-adds.
                    for i in 0..<2 * n { first[i] -= lambda * second[i] }
                    norm.apply(first, 2 * n, out + row * narrow + 2 * pair * n, kernels)
                }
            }
        }
    }
}
