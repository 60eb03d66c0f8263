import BatchEngine
import CPhiKernels

/// Memory of the scans of a pass, which all layers share.
private final class ScanBuffers {
    /// [rows][width]: the convolution's results.
    let convolved = Buffer<Float>()
    /// [rows][rank, inputs, outputs]
    let numbers = Buffer<Float>()
    /// [rows][width]
    let steps = Buffer<Float>()
    /// [rows][width]: the last scan's results.
    let made = Buffer<Float>()
    let input = MatmulInput()

    /// out [rows][width] = the last scan's results for the rows, times silu(z).
    /// - Parameter z: [rows][stride]
    func gate(
        _ rows: MixerRows, _ z: UnsafePointer<Float>, _ width: Int, into out: UnsafeMutablePointer<Float>
    ) {
        let made = made.pointer
        rows.pool.runRows(rows.count) { row in
            rows.kernels.silu_multiply(
                z + row * rows.stride, made + rows.numbers[row] * width, width, out + row * width)
        }
    }
}

/// Multiplies the results of the last scan by silu of the last product's results.
private struct GatedMemory: RowMixer {
    let width: Int
    let buffers: ScanBuffers

    func run(_ rows: MixerRows, into out: UnsafeMutablePointer<Float>) {
        buffers.gate(rows, rows.values, width, into: out)
    }
}

extension MemoryTensors: RowMixerTensors {
    func mixer(_ weights: inout WeightReader) -> any RowMixer {
        GatedMemory(width: width, buffers: weights.shared(ScanBuffers()))
    }
}

extension ScanTensors: RowMixerTensors {
    func mixer(_ weights: inout WeightReader) throws -> any RowMixer { try SelectiveScan(self, &weights) }
}

/// Mamba's selective scan (Gu and Dao 2023, arXiv 2312.00752). Takes the last product's results x [width] through a
/// convolution and a scan over positions; the scan's results are multiplied by silu(z), where z follows x.
///
/// A row's result depends on the rows of its sequence alone, in their order: each begins with the state after the one
/// before, in this pass or in the cache. A state is that of the convolution [length - 1][width] followed by that of the
/// scan [width/16][states][16], after the sequence's last position in a block.
private struct SelectiveScan: RowMixer {
    private let convolution: ConvolutionWeights
    /// [rank, then the inputs and outputs of all states; width], and [width, rank]. float32, as their results go into
    /// exponents.
    private let numbers, steps: PackedMatrix
    /// [width/16][states][16]
    private let rates: FrozenArray<Float>
    /// [width], both
    private let skips, biases: FrozenArray<Float>
    private let states: Int
    private let buffers: ScanBuffers

    var width: Int { convolution.width }
    private var rank: Int { steps.columns }

    init(_ tensors: ScanTensors, _ weights: inout WeightReader) throws {
        let (path, width, states) = (tensors.path, tensors.width, tensors.states)
        let rank = tensors.rank
        (self.states, buffers) = (states, weights.shared(ScanBuffers()))
        convolution = try ConvolutionWeights(
            path + ".conv1d", width: width, length: tensors.length, &weights)
        numbers = try PackedMatrix(
            floatsOf: weights.unpacked(path + ".x_proj", rank + 2 * states, width))
        steps = try PackedMatrix(
            floatsOf: weights.unpacked(path + ".dt_proj", width, rank, hasBias: true))
        // Logarithms of the negated rates [width][states].
        let logarithms = try weights.floats(path + ".A_log", [width, states])
        rates = FrozenArray(
            (0..<width * states).map { place in
                let (block, state) = (place / 16).quotientAndRemainder(dividingBy: states)
                return -Float(phi_exp(Double(logarithms[(block * 16 + place % 16) * states + state])))
            })
        skips = FrozenArray(try weights.vector(path + ".D", width))
        biases = FrozenArray(try weights.vector(path + ".dt_proj.bias", width))
    }

    func run(_ rows: MixerRows, into out: UnsafeMutablePointer<Float>) throws(UserError) {
        let count = rows.count
        for buffer in [buffers.convolved, buffers.steps, buffers.made] { try buffer.reserve(count * width) }
        ShortConvolution(
            weights: convolution, rows: rows.values, stride: rows.stride, runs: rows.runs, state: rows.state,
            kernels: rows.kernels
        ).run(into: buffers.convolved.pointer, rows.pool)
        let numberWidth = numbers.blocks * 16
        try buffers.numbers.reserve(count * numberWidth)
        try multiply(buffers.convolved.pointer, width, by: numbers, rows, into: buffers.numbers.pointer)
        try multiply(buffers.numbers.pointer, numberWidth, by: steps, rows, into: buffers.steps.pointer)
        scan(rows, numberWidth)
        buffers.gate(rows, rows.values + width, width, into: out)
    }

    /// out [rows][whole blocks] = x [rows][stride], with as many columns as the matrix has, times the matrix.
    private func multiply(
        _ x: UnsafePointer<Float>, _ stride: Int, by matrix: PackedMatrix, _ rows: MixerRows,
        into out: UnsafeMutablePointer<Float>
    ) throws(UserError) {
        try buffers.input.prepare(rows: rows.count, for: matrix, keepsFloats: false)
        rows.pool.runRows(rows.count) { buffers.input.set(row: $0, x + $0 * stride, rows.kernels) }
        buffers.input.multiply(
            rows: rows.count, by: matrix, bias: nil, into: out, stride: matrix.blocks * 16,
            rows.kernels, rows.pool)
    }

    private func scan(_ rows: MixerRows, _ numberWidth: Int) {
        let runs = rows.runs
        let firsts = runs.firstRows.indices
        let scan = PhiScan(
            rates: rates.base, skips: skips.base, biases: biases.base, width: UInt32(width),
            states: UInt32(states))
        // Channels, in blocks of 16, of one run after the other.
        let blocks = width / 16
        rows.pool.runPieces(runs.count * blocks, unit: 4) { piece in
            for number in piece.lowerBound / blocks...(piece.upperBound - 1) / blocks {
                let some = piece.clamped(to: number * blocks..<(number + 1) * blocks)
                let channels =
                    (some.lowerBound - number * blocks) * 16..<(some.upperBound - number * blocks) * 16
                self.scan(scan, rows, runs[number], first: firsts[number], channels, numberWidth)
            }
        }
    }

    /// Scans some channels of a run's rows, block after block of the cache.
    /// - Parameter first: index of the run's first row.
    private func scan(
        _ weights: PhiScan, _ rows: MixerRows, _ run: RowRun, first: Int, _ channels: Range<Int>,
        _ numberWidth: Int
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
            let count = min(end, (place + 1) * KVCache.blockLength) - position
            withUnsafePointer(to: weights) { weights in
                withUnsafePointer(
                    to: PhiScanRows(
                        x: buffers.convolved.pointer + row * width,
                        steps: buffers.steps.pointer + row * width,
                        inputs: buffers.numbers.pointer + row * numberWidth + rank,
                        out: buffers.made.pointer + row * width, count: count, step_stride: width,
                        input_stride: numberWidth)
                ) {
                    rows.kernels.scan(weights, $0, own, channels.lowerBound, channels.upperBound)
                }
            }
            position += count
        }
    }
}
