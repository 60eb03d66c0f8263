import BatchEngine
import CPhiKernels

/// Weights of Mamba's selective scan (Gu and Dao 2023, arXiv 2312.00752) and of its inputs.
package struct ScanWeights: Sendable {
    let convolution: ConvolutionWeights
    /// [rank, then the inputs and outputs of all states; width], and [width, rank]. float32, as their results go into
    /// exponents.
    let numbers, steps: FloatLinear
    /// [width/16][states][16]
    let rates: [Float]
    /// [width], both
    let skips, biases: [Float]
    let states: Int

    var width: Int { convolution.width }
    var rank: Int { steps.matrix.columns }

    /// - Parameter rateLogarithms: [width][states] logarithms of the negated rates.
    init(
        convolution: ConvolutionWeights, numbers: FloatLinear, steps: FloatLinear, rateLogarithms: [Float],
        skips: [Float], biases: [Float], states: Int
    ) {
        (self.convolution, self.numbers, self.steps) = (convolution, numbers, steps)
        (self.skips, self.biases, self.states) = (skips, biases, states)
        rates = (0..<convolution.width * states).map { place in
            let (block, state) = (place / 16).quotientAndRemainder(dividingBy: states)
            return -Float(phi_exp(Double(rateLogarithms[(block * 16 + place % 16) * states + state])))
        }
    }
}

/// Computes selective scans of a pass's rows. A row's result depends on the rows of its sequence alone, in their order:
/// each begins with the state after the one before, in this pass or in the cache.
///
/// A state is that of the convolution [length - 1][width] followed by that of the scan [width/16][states][16], after
/// the sequence's last position in a block.
final class SelectiveScan {
    private let kernels: PhiKernels
    private let pool: ComputePool

    /// [rows][width]: the convolution's results.
    private let convolved = Buffer<Float>()
    /// [rows][rank, inputs, outputs]
    private let numbers = Buffer<Float>()
    /// [rows][width]
    private let steps = Buffer<Float>()
    /// [rows][width]: the last scan's results.
    private let made = Buffer<Float>()
    private let input = MatmulInput()

    init(_ kernels: PhiKernels, _ pool: ComputePool) {
        (self.kernels, self.pool) = (kernels, pool)
    }

    /// out [rows][width] = the scan of x, times silu(z).
    /// - Parameters:
    ///   - rows: [rows][stride]: x and z, each [width].
    ///   - state: returns this layer's state after a run's block.
    func run(
        _ weights: ScanWeights, rows: UnsafePointer<Float>, stride: Int, runs: [RowRun],
        state: @escaping (RowRun, Int) -> UnsafeMutablePointer<Float>, into out: UnsafeMutablePointer<Float>
    ) throws(UserError) {
        let (width, count) = (weights.width, runs.reduce(0) { $0 + $1.tokens.count })
        for buffer in [convolved, steps, made] { try buffer.reserve(count * width) }
        ShortConvolution(
            weights: weights.convolution, rows: rows, stride: stride, runs: runs, state: state,
            kernels: kernels
        ).run(into: convolved.pointer, pool)
        let numberWidth = weights.numbers.matrix.blocks * 16
        try numbers.reserve(count * numberWidth)
        try multiply(convolved.pointer, width, by: weights.numbers, count, into: numbers.pointer)
        try multiply(numbers.pointer, numberWidth, by: weights.steps, count, into: steps.pointer)
        scan(weights, runs, numberWidth) { state($0, $1) + weights.convolution.stateWidth }
        gate(rows + width, stride: stride, count, width, into: out)
    }

    /// out [rows][width] = the last scan's results for the rows, times silu(z).
    /// - Parameter z: [rows][stride]
    func gate(
        _ z: UnsafePointer<Float>, stride: Int, _ count: Int, _ width: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        let made = made.pointer
        pool.runRows(count) { row in
            kernels.silu_multiply(z + row * stride, made + row * width, width, out + row * width)
        }
    }

    /// Keeps the last scan's results for these rows, in order.
    func keep(_ rows: [Int], width: Int) { made.pointer.keepRows(rows, width: width) }

    /// out [rows][whole blocks] = x [rows][stride], with as many columns as the matrix has, times the matrix.
    private func multiply(
        _ x: UnsafePointer<Float>, _ stride: Int, by linear: FloatLinear, _ rows: Int,
        into out: UnsafeMutablePointer<Float>
    ) throws(UserError) {
        try input.prepare(rows: rows, for: linear.matrix, keepsFloats: false)
        pool.runRows(rows) { input.set(row: $0, x + $0 * stride, kernels) }
        input.multiply(
            rows: rows, by: linear.matrix, bias: nil, into: out, stride: linear.matrix.blocks * 16, kernels,
            pool)
    }

    private func scan(
        _ weights: ScanWeights, _ runs: [RowRun], _ numberWidth: Int,
        _ state: (RowRun, Int) -> UnsafeMutablePointer<Float>
    ) {
        let (width, states) = (weights.width, weights.states)
        var firsts: [Int] = []
        var count = 0
        for run in runs {
            firsts.append(count)
            count += run.tokens.count
        }
        weights.rates.withUnsafeBufferPointer { rates in
            weights.skips.withUnsafeBufferPointer { skips in
                weights.biases.withUnsafeBufferPointer { biases in
                    let scan = PhiScan(
                        rates: rates.baseAddress, skips: skips.baseAddress, biases: biases.baseAddress,
                        width: UInt32(width), states: UInt32(states))
                    // Channels, in blocks of 16, of one run after the other.
                    let blocks = width / 16
                    pool.runPieces(runs.count * blocks, unit: 4) { piece in
                        for number in piece.lowerBound / blocks...(piece.upperBound - 1) / blocks {
                            let some = piece.clamped(to: number * blocks..<(number + 1) * blocks)
                            let channels =
                                (some.lowerBound - number * blocks) * 16..<(some.upperBound - number * blocks)
                                * 16
                            self.scan(
                                scan, runs[number], first: firsts[number], channels, weights.rank,
                                numberWidth, state)
                        }
                    }
                }
            }
        }
    }

    /// Scans some channels of a run's rows, block after block of the cache.
    /// - Parameter first: index of the run's first row.
    private func scan(
        _ weights: PhiScan, _ run: RowRun, first: Int, _ channels: Range<Int>, _ rank: Int,
        _ numberWidth: Int, _ state: (RowRun, Int) -> UnsafeMutablePointer<Float>
    ) {
        let (width, states) = (Int(weights.width), Int(weights.states))
        let end = run.start + run.tokens.count
        var position = run.start
        while position < end {
            let (place, within) = position.quotientAndRemainder(dividingBy: KVCache.blockLength)
            let own = state(run, place)
            if within == 0 {
                let (some, length) = (own + channels.lowerBound * states, channels.count * states)
                if place == 0 {
                    some.update(repeating: 0, count: length)
                } else {
                    some.update(
                        from: state(run, place - 1) + channels.lowerBound * states, count: length)
                }
            }
            let row = first + position - run.start
            let count = min(end, (place + 1) * KVCache.blockLength) - position
            let numbers = numbers.pointer + row * numberWidth + rank
            withUnsafePointer(to: weights) { weights in
                withUnsafePointer(
                    to: PhiScanRows(
                        x: convolved.pointer + row * width, steps: steps.pointer + row * width,
                        inputs: numbers, out: made.pointer + row * width, count: count, step_stride: width,
                        input_stride: numberWidth)
                ) {
                    kernels.scan(weights, $0, own, channels.lowerBound, channels.upperBound)
                }
            }
            position += count
        }
    }
}

extension UnsafeMutablePointer<Float> {
    /// Moves these rows [width] to the front, in order.
    func keepRows(_ rows: [Int], width: Int) {
        for (place, row) in rows.enumerated() where place != row {
            (self + place * width).update(from: self + row * width, count: width)
        }
    }
}
