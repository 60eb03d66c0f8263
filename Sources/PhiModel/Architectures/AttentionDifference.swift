import CPhiKernels

/// Differential attention (Ye et al. 2024, arXiv 2410.05258). Two adjacent heads attend to the values of both, and their
/// outputs combine to norm(first - lambda * second). Input: queries, and keys and values if the layer has its own.
///
/// It is computed by ordinary attention. The cache stores two adjacent heads of keys as one, and their values too: a
/// query that is zero in one half gets the scores of the other half's keys, and the values of both.
struct AttentionDifference: RowMixer {
    private let shape: AttentionShape
    private let sharedLayer: Int?
    private let lambda: Float
    /// RMSNorm [2 * head dimension], with the last factor, 1 - the initial lambda, in its weight.
    private let norm: Norm

    var width: Int { shape.queryWidth }

    /// - Parameters:
    ///   - path: lambda_q1 and so on are below it.
    ///   - layer: from 0; the initial lambda is 0.8 - 0.6 * exp(-0.3 * layer).
    ///   - sharedLayer: the earlier layer whose keys and values it uses; nil if it has its own.
    init(
        _ path: String, layer: Int, _ shape: AttentionShape, sharedLayer: Int?,
        _ weights: inout some WeightReading
    ) throws {
        let n = shape.headDimension
        var exponents: [Double] = []
        for pair in ["1", "2"] {
            let queries = try weights.floats("\(path).lambda_q\(pair)", [n])
            let keys = try weights.floats("\(path).lambda_k\(pair)", [n])
            exponents.append(zip(queries, keys).reduce(0) { $0 + Double($1.0) * Double($1.1) })
        }
        let initial = 0.8 - 0.6 * phi_exp(-0.3 * Double(layer))
        lambda = Float(phi_exp(exponents[0]) - phi_exp(exponents[1]) + initial)
        let weight = try weights.floats(path + ".subln.weight", [2 * n])
        norm = Norm(weight: weight.map { $0 * Float(1 - initial) }, bias: nil, epsilon: 1e-5)
        (self.shape, self.sharedLayer) = (shape, sharedLayer)
    }

    func run(_ rows: MixerRows, into out: UnsafeMutablePointer<Float>) throws(UserError) {
        let (heads, n) = (shape.headCount, shape.headDimension)
        let keysAndValues = sharedLayer == nil ? 2 * shape.keyWidth : 0
        let (narrow, wide) = (width, 2 * width)
        let length = wide + keysAndValues
        // [rows][heads][2 * head dimension], with keys and values behind the first.
        let widened = try rows.memory(0, rows.count * length)
        let attended = try rows.memory(1, rows.count * wide)
        rows.pool.runRows(rows.count) { row in
            let (from, to) = (rows.values + row * rows.stride, widened + row * length)
            for head in 0..<heads {
                let own = to + 2 * head * n
                own.update(repeating: 0, count: 2 * n)
                (own + head % 2 * n).update(from: from + head * n, count: n)
            }
            (to + wide).update(from: from + narrow, count: keysAndValues)
        }
        rows.attend(widened, length, attended, sharedLayer)
        rows.pool.runRows(rows.count) { row in
            for pair in 0..<heads / 2 {
                let first = attended + row * wide + 4 * pair * n
                let second = first + 2 * n
                // Each operation rounds once, without fused multiply-adds.
                for i in 0..<2 * n { first[i] -= lambda * second[i] }
                norm.apply(first, 2 * n, out + row * narrow + 2 * pair * n, rows.kernels)
            }
        }
    }
}
