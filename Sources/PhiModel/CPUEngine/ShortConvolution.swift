import BatchEngine
import CPhiKernels

/// The weights of a convolution over positions, of each column by itself.
package struct ConvolutionWeights: Sendable {
    /// [length][width]: those of the earliest position first.
    let values: [Float]
    /// [width], added to the sums.
    let bias: [Float]
    let width: Int
    let length: Int

    /// - Parameter values: [width][length]
    init(_ values: [Float], bias: [Float], width: Int, length: Int) {
        self.values = (0..<width * length).map { values[$0 % width * length + $0 / width] }
        (self.bias, self.width, self.length) = (bias, width, length)
    }

    /// Floats of the state: the values of the positions before a row.
    var stateWidth: Int { (length - 1) * width }
}

/// Mamba's convolution of a step's rows, on which the bias and SiLU follow. Each operation rounds once, whatever the
/// processor has.
///
/// A state holds the last length - 1 values that the sequence has come to in a block of positions.
struct ShortConvolution {
    let weights: ConvolutionWeights
    /// [rows][stride]: the values come first.
    let rows: UnsafePointer<Float>
    let stride: Int
    let runs: [RowRun]
    /// The state [length - 1][width] after a run's block, by the block's place.
    let state: (RowRun, Int) -> UnsafeMutablePointer<Float>
    let kernels: PhiKernels

    private var width: Int { weights.width }
    /// Values of a state.
    private var before: Int { weights.length - 1 }

    /// out [rows][width] = what the convolution gives. The blocks' states are those after these rows then.
    func run(into out: UnsafeMutablePointer<Float>, _ pool: ComputePool) {
        var places: [(run: Int, first: Int, place: Int)] = []
        var starts: [Int] = []
        for (number, run) in runs.enumerated() {
            starts.append(places.count)
            let first = places.count
            for place in 0..<run.tokens.count { places.append((number, first, place)) }
        }
        pool.runRows(places.count) { row in
            let (run, first, place) = places[row]
            compute(runs[run], first, place, out + row * width)
        }
        // Only now, as rows read the state before them.
        pool.runRows(runs.count) { keep(runs[$0], starts[$0]) }
    }

    /// The row of a run that is `place` after its first one, which is row `first`.
    private func compute(_ run: RowRun, _ first: Int, _ place: Int, _ out: UnsafeMutablePointer<Float>) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: width) { value in
            guard let value = value.baseAddress else { return }
            weights.values.withUnsafeBufferPointer { weights in
                for number in 0...before {
                    load(run, first, place - before + number, value)
                    let weight = number * width
                    if number == 0 {
                        for i in 0..<width { out[i] = weights[i] * value[i] }
                    } else {
                        for i in 0..<width { out[i] += weights[weight + i] * value[i] }
                    }
                }
            }
        }
        kernels.add(out, weights.bias, width)
        kernels.silu(out, width, out)
    }

    /// value [width] = what is convolved of a run's row, or what the state has of the ones before its first.
    private func load(
        _ run: RowRun, _ first: Int, _ place: Int, _ value: UnsafeMutablePointer<Float>
    ) {
        if place >= 0 {
            value.update(from: rows + (first + place) * stride, count: width)
        } else if run.start > 0 {
            value.update(
                from: state(run, (run.start - 1) / KVCache.blockLength) + (before + place) * width,
                count: width)
        } else {
            value.update(repeating: 0, count: width)
        }
    }

    /// Writes the states of the blocks that a run's rows lie in.
    private func keep(_ run: RowRun, _ first: Int) {
        let end = run.start + run.tokens.count
        withUnsafeTemporaryAllocation(of: Float.self, capacity: before * width) { values in
            guard let values = values.baseAddress else { return }
            // The last one first: the others' rows may be before the first row, in a state that is overwritten here.
            let blocks = run.start / KVCache.blockLength...(end - 1) / KVCache.blockLength
            for block in blocks.suffix(SequenceSlots.states).reversed() {
                let last = min(end, (block + 1) * KVCache.blockLength) - run.start
                for number in 0..<before {
                    load(run, first, last - before + number, values + number * width)
                }
                state(run, block).update(from: values, count: before * width)
            }
        }
    }
}
