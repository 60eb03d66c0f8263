import BatchEngine
import CPhiKernels
import Errors

/// Multiplies rows by a model's matrices, and counts work and time of all passes so far.
final class Matmuls {
    let weights: PackedWeights
    let kernels: PhiKernels
    let pool: ComputePool
    private let adapters = LowRankRows()
    private(set) var times = ComputeTimes()
    /// Time of the last count.
    private var last = Moment.now
    /// Collects the inputs of every product with a matrix of floats.
    var moments: InputMoments?

    init(_ weights: PackedWeights, _ kernels: PhiKernels, _ pool: ComputePool) {
        (self.weights, self.kernels, self.pool) = (weights, kernels, pool)
    }

    /// out [rows][stride] = rows of `input` times a matrix that fits, with its adapter and bias.
    func multiply(
        _ input: MatmulInput, rows: Int, by linear: Linear, into out: UnsafeMutablePointer<Float>, stride: Int
    ) throws(UserError) {
        if rows == 0 { return }
        let matrix = try weights[linear.place]
        times.rows += lap()
        if !matrix.isQuantized {
            moments?.add(input.unquantized, rows: rows, columns: linear.columns, of: linear.place, pool)
        }
        let isScaled = linear.adapter?.rowScales != nil
        input.multiply(
            rows: rows, by: matrix, bias: isScaled ? nil : linear.bias, into: out, stride: stride, kernels,
            pool)
        if let adapter = linear.adapter {
            try adapters.add(
                adapter, of: input.unquantized, rows: rows, to: out, stride: stride,
                bias: isScaled ? linear.bias : nil, kernels, pool)
        }
        times.matmul += lap()
        times.multiplyAdds += rows * linear.rows * linear.columns
        times.weightBytes += matrix.bytes
    }

    func startClock() { last = .now }

    /// Returns the seconds since the last count.
    private func lap() -> Double {
        let now = Moment.now
        defer { last = now }
        return now - last
    }

    /// Counts the time since the clock started, or the last count, as attention.
    func countAttention() { times.attention += lap() }
}
