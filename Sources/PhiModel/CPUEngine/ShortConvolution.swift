import BatchEngine
import CPhiKernels

/// Weights of a convolution over positions, separate for each column.
struct ConvolutionWeights: Sendable {
    /// [length][width], earliest position first.
    let values: FrozenArray<Float>
    /// [width], added to the sums.
    let bias: [Float]
    let width: Int
    let length: Int

    /// Reads the tensors below a path, [width, 1, length] as Hugging Face has them, or [width, length, 1] as MLX.
    init(_ path: String, width: Int, length: Int, _ weights: inout WeightReader) throws {
        let name = path + ".weight"
        let isMLX = try weights.store.tensor(name).shape == [width, length, 1]
        // Row-major, the two are the same.
        let values = try weights.floats(name, isMLX ? [width, length, 1] : [width, 1, length])
        self.values = FrozenArray((0..<width * length).map { values[$0 % width * length + $0 / width] })
        bias = try weights.vector(path + ".bias", width)
        (self.width, self.length) = (width, length)
    }

    /// Floats of the state: the values of the positions before a row.
    var stateWidth: Int { (length - 1) * width }
}

/// Mamba's convolution of a pass's rows, followed by bias and SiLU. Each operation rounds once, without fused
/// multiply-adds.
///
/// A state holds the sequence's last length - 1 values in a block of positions.
struct ShortConvolution {
    let weights: ConvolutionWeights
    /// [rows][stride], values first.
    let rows: UnsafePointer<Float>
    let stride: Int
    let runs: [RowRun]
    /// Returns the state [length - 1][width] after a run's block, by the block's index.
    let state: (RowRun, Int) -> UnsafeMutablePointer<Float>
    let kernels: PhiKernels

    private var width: Int { weights.width }
    /// Values of a state.
    private var before: Int { weights.length - 1 }

    /// out [rows][width] = the results of the convolution. Also updates the blocks' states.
    func run(into out: UnsafeMutablePointer<Float>, _ pool: ComputePool) {
        let starts = runs.firstRows.indices
        var places: [(run: Int, place: Int)] = []
        for (number, run) in runs.enumerated() {
            for place in 0..<run.tokens.count { places.append((number, place)) }
        }
        pool.runRows(places.count) { row in
            let (run, place) = places[row]
            compute(runs[run], starts[run], place, out + row * width)
        }
        // Afterwards, as rows read the states.
        pool.runRows(runs.count) { keep(runs[$0], starts[$0]) }
    }

    /// Computes the row of a run that is `place` after its first one, which is row `first`.
    private func compute(_ run: RowRun, _ first: Int, _ place: Int, _ out: UnsafeMutablePointer<Float>) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: width) { value in
            guard let value = value.baseAddress else { return }
            let weights = weights.values.base
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
        kernels.add(out, weights.bias, width)
        kernels.silu(out, width, out)
    }

    /// value [width] = the input of a run's row; from the state if that is before its first.
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

    /// Writes the states of the blocks of a run's rows.
    private func keep(_ run: RowRun, _ first: Int) {
        let end = run.start + run.tokens.count
        withUnsafeTemporaryAllocation(of: Float.self, capacity: before * width) { values in
            guard let values = values.baseAddress else { return }
            // The last one first: the others may need rows from a state that is overwritten here.
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
