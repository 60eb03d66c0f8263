import BatchEngine
import CPhiKernels

/// Mamba's selective scan (Gu and Dao 2023, arXiv 2312.00752). Takes the last product's results x [width] through a
/// convolution and a scan over positions; the scan's results are multiplied by silu(z), where z follows x.
///
/// A row's result depends on the rows of its sequence alone, in their order: each begins with the state after the one
/// before, in this pass or in the cache. A state is that of the convolution [length - 1][width] followed by that of the
/// scan [width/16][states][16], after the sequence's last position in a block.
struct SelectiveScan: RowMixer {
    private let convolution: ShortConvolution
    /// [rank, then the inputs and outputs of all states; width], and [width, rank]. float32, as their results go into
    /// exponents.
    private let numbers, steps: PackedMatrix
    /// [width/16][states][16]
    private let rates: FrozenArray<Float>
    /// [width], both
    private let skips, biases: FrozenArray<Float>
    private let states: Int

    var width: Int { convolution.width }

    /// Floats of a layer's state.
    static func stateWidth(width: Int, states: Int, length: Int) -> Int { (length - 1 + states) * width }

    /// - Parameters:
    ///   - path: conv1d, x_proj, dt_proj, A_log and D are below it.
    ///   - width: channels, a multiple of 16.
    ///   - states: numbers of state of each channel.
    ///   - rank: of the matrix that makes steps.
    ///   - length: positions that the convolution sees.
    init(
        _ path: String, width: Int, states: Int, rank: Int, length: Int,
        _ weights: inout some WeightReading
    ) throws {
        self.states = states
        convolution = try ShortConvolution(path + ".conv1d", width: width, length: length, &weights)
        func matrix(_ name: String, _ rows: Int, _ columns: Int, hasBias: Bool) throws -> PackedMatrix {
            try PackedMatrix(
                floats: weights.floats(ofMatrix: path + name, rows, columns, hasBias: hasBias),
                rows: rows, columns: columns)
        }
        numbers = try matrix(".x_proj", rank + 2 * states, width, hasBias: false)
        steps = try matrix(".dt_proj", width, rank, hasBias: true)
        // Logarithms of the negated rates [width][states].
        let logarithms = try weights.floats(path + ".A_log", [width, states])
        rates = FrozenArray(
            (0..<width * states).map { place in
                let (block, state) = (place / 16).quotientAndRemainder(dividingBy: states)
                return -Float(phi_exp(Double(logarithms[(block * 16 + place % 16) * states + state])))
            })
        skips = FrozenArray(try weights.floats(path + ".D", [width]))
        biases = FrozenArray(try weights.floats(path + ".dt_proj.bias", [width]))
    }

    func run(_ rows: MixerRows, into out: UnsafeMutablePointer<Float>) throws(UserError) {
        let (count, rank, numberWidth) = (rows.count, steps.columns, numbers.blocks * 16)
        let convolved = try rows.memory(0, count * width)
        // [rows][rank, inputs, outputs], and the ranks alone.
        let made = try rows.memory(1, count * numberWidth)
        let ranks = try rows.memory(2, count * rank)
        let stepRows = try rows.memory(3, count * width)
        let results = try rows.memory(GatedMemory.results, count * width)
        convolution.run(rows, into: convolved)
        multiply(convolved, by: numbers, rows, into: made)
        rows.pool.runRows(count) { (ranks + $0 * rank).update(from: made + $0 * numberWidth, count: rank) }
        multiply(ranks, by: steps, rows, into: stepRows)
        scan(
            rows,
            PhiScanRows(
                x: convolved, steps: stepRows, inputs: made + rank, out: results, count: count,
                step_stride: width, input_stride: numberWidth))
        try GatedMemory(width: width).run(rows, behind: width, into: out)
    }

    /// out [rows][whole blocks] = x [rows][columns] times a matrix of floats.
    private func multiply(
        _ x: UnsafePointer<Float>, by matrix: PackedMatrix, _ rows: MixerRows,
        into out: UnsafeMutablePointer<Float>
    ) {
        let (layout, kernels) = (matrix.matrix, rows.kernels)
        rows.pool.runPieces(
            matrix.blocks, unit: rows.pool.unit(kernels.together, of: matrix.blocks)
        ) { blocks in
            withUnsafePointer(to: layout) {
                kernels.linear_plain(
                    $0, x, rows.count, out, matrix.blocks * 16, blocks.lowerBound, blocks.upperBound)
            }
        }
    }

    private func scan(_ rows: MixerRows, _ all: PhiScanRows) {
        let firsts = rows.runs.firstRows.indices
        let scan = PhiScan(
            rates: rates.base, skips: skips.base, biases: biases.base, width: UInt32(width),
            states: UInt32(states))
        // Channels, in blocks of 16, of one run after the other.
        let blocks = width / 16
        rows.pool.runPieces(rows.runs.count * blocks, unit: 4) { piece in
            for number in piece.lowerBound / blocks...(piece.upperBound - 1) / blocks {
                let some = piece.clamped(to: number * blocks..<(number + 1) * blocks)
                let channels =
                    (some.lowerBound - number * blocks) * 16..<(some.upperBound - number * blocks) * 16
                self.scan(scan, rows, rows.runs[number], channels, all, first: firsts[number])
            }
        }
    }

    /// Scans some channels of a run's rows, block after block of the cache.
    /// - Parameter first: index of the run's first row among `all`.
    private func scan(
        _ weights: PhiScan, _ rows: MixerRows, _ run: RowRun, _ channels: Range<Int>, _ all: PhiScanRows,
        first: Int
    ) {
        let end = run.start + run.tokens.count
        func state(_ place: Int) -> UnsafeMutablePointer<Float> {
            rows.state(run, place) + convolution.stateWidth
        }
        var position = run.start
        while position < end {
            let (place, within) = position.quotientAndRemainder(dividingBy: KVCache.blockLength)
            let own = state(place)
            if within == 0 {
                let (some, length) = (own + channels.lowerBound * states, channels.count * states)
                if place == 0 {
                    some.update(repeating: 0, count: length)
                } else {
                    some.update(from: state(place - 1) + channels.lowerBound * states, count: length)
                }
            }
            let row = first + position - run.start
            var part = all
            part.x += row * width
            part.steps += row * width
            part.inputs += row * all.input_stride
            part.out += row * width
            part.count = min(end, (place + 1) * KVCache.blockLength) - position
            withUnsafePointer(to: weights) { weights in
                withUnsafePointer(to: part) {
                    rows.kernels.scan(weights, $0, own, channels.lowerBound, channels.upperBound)
                }
            }
            position += part.count
        }
    }
}

/// Multiplies the results of the last scan by silu of the last product's results.
struct GatedMemory: RowMixer {
    let width: Int

    /// Number of the memory of the last scan's results [rows][width].
    static let results = 4

    func run(_ rows: MixerRows, into out: UnsafeMutablePointer<Float>) throws(UserError) {
        try run(rows, behind: 0, into: out)
    }

    /// - Parameter offset: of the numbers that silu is taken of, in a row of the last product's results.
    func run(
        _ rows: MixerRows, behind offset: Int, into out: UnsafeMutablePointer<Float>
    ) throws(UserError) {
        let results = try rows.memory(Self.results, 0)
        rows.pool.runRows(rows.count) { row in
            rows.kernels.silu_multiply(
                rows.values + offset + row * rows.stride, results + rows.numbers[row] * width, width,
                out + row * width)
        }
    }
}

/// Mamba's convolution of a pass's rows over positions, separate for each column, followed by bias and SiLU. Each
/// operation rounds once, without fused multiply-adds.
///
/// A state holds the sequence's last length - 1 values in a block of positions.
private struct ShortConvolution: Sendable {
    /// [length][width], earliest position first.
    let weights: FrozenArray<Float>
    /// [width], added to the sums.
    let bias: [Float]
    let width: Int
    let length: Int

    /// Reads the tensors below a path, [width, 1, length] as Hugging Face has them, or [width, length, 1] as MLX.
    init(_ path: String, width: Int, length: Int, _ weights: inout some WeightReading) throws {
        // Row-major, the two are the same.
        let values = try weights.floats(path + ".weight", [width, 1, length], [width, length, 1])
        self.weights = FrozenArray((0..<width * length).map { values[$0 % width * length + $0 / width] })
        bias = try weights.floats(path + ".bias", [width])
        (self.width, self.length) = (width, length)
    }

    /// Values of a state.
    private var before: Int { length - 1 }
    /// Floats of a state: the values of the positions before a row.
    var stateWidth: Int { before * width }

    /// out [rows][width] = the results of the convolution of the first `width` values of each row. Also updates the
    /// blocks' states.
    func run(_ rows: MixerRows, into out: UnsafeMutablePointer<Float>) {
        let (runs, starts) = (rows.runs, rows.runs.firstRows.indices)
        let places = runs.indices.flatMap { run in (0..<runs[run].tokens.count).map { (run, $0) } }
        rows.pool.runRows(places.count) { row in
            let (run, place) = places[row]
            compute(rows, runs[run], starts[run], place, out + row * width)
        }
        // Afterwards, as rows read the states.
        rows.pool.runRows(runs.count) { keep(rows, runs[$0], starts[$0]) }
    }

    /// Computes the row of a run that is `place` after its first one, which is row `first`.
    private func compute(
        _ rows: MixerRows, _ run: RowRun, _ first: Int, _ place: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: width) { value in
            guard let value = value.baseAddress else { return }
            let weights = weights.base
            for number in 0...before {
                load(rows, run, first, place - before + number, value)
                let weight = number * width
                if number == 0 {
                    for i in 0..<width { out[i] = weights[i] * value[i] }
                } else {
                    for i in 0..<width { out[i] += weights[weight + i] * value[i] }
                }
            }
        }
        rows.kernels.add(out, bias, width)
        rows.kernels.silu(out, width, out)
    }

    /// value [width] = the input of a run's row; from the state if that is before its first.
    private func load(
        _ rows: MixerRows, _ run: RowRun, _ first: Int, _ place: Int, _ value: UnsafeMutablePointer<Float>
    ) {
        if place >= 0 {
            value.update(from: rows.values + (first + place) * rows.stride, count: width)
        } else if run.start > 0 {
            let state = rows.state(run, (run.start - 1) / KVCache.blockLength)
            value.update(from: state + (before + place) * width, count: width)
        } else {
            value.update(repeating: 0, count: width)
        }
    }

    /// Writes the states of the blocks of a run's rows.
    private func keep(_ rows: MixerRows, _ run: RowRun, _ first: Int) {
        let end = run.start + run.tokens.count
        withUnsafeTemporaryAllocation(of: Float.self, capacity: before * width) { values in
            guard let values = values.baseAddress else { return }
            // The last one first: the others may need rows from a state that is overwritten here.
            let blocks = run.start / KVCache.blockLength...(end - 1) / KVCache.blockLength
            for block in blocks.suffix(SequenceSlots.states).reversed() {
                let last = min(end, (block + 1) * KVCache.blockLength) - run.start
                for number in 0..<before {
                    load(rows, run, first, last - before + number, values + number * width)
                }
                rows.state(run, block).update(from: values, count: before * width)
            }
        }
    }
}
