import CPhiKernels

/// Memory of differential attention in a pass, which all layers share.
private final class DifferenceBuffers {
    /// [rows][heads][2 * head dimension], and keys and values behind them.
    let widened = Buffer<Float>()
    /// [rows][heads][2 * head dimension]
    let attended = Buffer<Float>()
}

extension DifferenceTensors: RowMixerTensors {
    func mixer(_ weights: inout WeightReader) throws -> any RowMixer {
        try AttentionDifference(self, &weights)
    }
}

/// Differential attention (Ye et al. 2024, arXiv 2410.05258). Two adjacent heads attend to the values of both, and their
/// outputs combine to norm(first - lambda * second). Input: queries, and keys and values if the layer has its own.
///
/// It is computed by ordinary attention. The cache stores two adjacent heads of keys as one, and their values too: a
/// query that is zero in one half gets the scores of the other half's keys, and the values of both.
private struct AttentionDifference: RowMixer {
    private let shape: AttentionShape
    private let sharedLayer: Int?
    private let lambda: Float
    /// RMSNorm [2 * head dimension], with the last factor, 1 - the initial lambda, in its weight.
    private let norm: Norm
    private let buffers: DifferenceBuffers

    var width: Int { shape.queryWidth }

    init(_ tensors: DifferenceTensors, _ weights: inout WeightReader) throws {
        let (path, n) = (tensors.path, tensors.shape.headDimension)
        var exponents: [Double] = []
        for pair in ["1", "2"] {
            let queries = try weights.vector("\(path).lambda_q\(pair)", n)
            let keys = try weights.vector("\(path).lambda_k\(pair)", n)
            exponents.append(zip(queries, keys).reduce(0) { $0 + Double($1.0) * Double($1.1) })
        }
        let initial = 0.8 - 0.6 * phi_exp(-0.3 * Double(tensors.layer))
        lambda = Float(phi_exp(exponents[0]) - phi_exp(exponents[1]) + initial)
        let weight = try weights.vector(path + ".subln.weight", 2 * n)
        norm = Norm(weight: weight.map { $0 * Float(1 - initial) }, bias: nil, epsilon: 1e-5)
        (shape, sharedLayer) = (tensors.shape, tensors.sharedLayer)
        buffers = weights.shared(DifferenceBuffers())
    }

    func run(_ rows: MixerRows, into out: UnsafeMutablePointer<Float>) throws(UserError) {
        let (heads, n) = (shape.headCount, shape.headDimension)
        let keysAndValues = sharedLayer == nil ? 2 * shape.keyWidth : 0
        let (narrow, wide) = (width, 2 * width)
        let length = wide + keysAndValues
        try buffers.widened.reserve(rows.count * length)
        try buffers.attended.reserve(rows.count * wide)
        let (widened, attended) = (buffers.widened.pointer, buffers.attended.pointer)
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
