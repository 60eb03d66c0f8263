import CPhiKernels

/// Consecutive rows of one sequence in a step.
struct RowRun {
    var tokens: ArraySlice<Int32>
    /// The position of the first of `tokens`.
    var start: Int
    /// The sequence's blocks in the KV cache; they have room for all its positions.
    var blocks: [Int32]
    /// Long rather than short factors, where the model has two sets.
    var longRope: Bool
    /// Behind how many tokens, counted from the last one backwards, logits are wanted.
    var logitRows: Int
}

/// Phi's forward pass: pre-norm blocks of grouped-query attention with rotary positions, and a gated
/// feed-forward network (SiLU).
final class Transformer: @unchecked Sendable {
    let configuration: ModelConfiguration
    private let weights: PhiWeights
    private let kernels: PhiKernels
    private let pool: ComputePool
    private let shortRope: RotaryTable
    private let longRope: RotaryTable?

    private let hidden = Buffer<Float>()
    private let normed = Buffer<Float>()
    private let projected = Buffer<Float>()
    private let attended = Buffer<Float>()
    private let queryValues = Buffer<Int8>()
    private let queryScales = Buffer<Float>()
    private let querySums = Buffer<Int32>()
    private let logits = Buffer<Float>()
    private let input = ProductInput()

    init(_ configuration: ModelConfiguration, weights: PhiWeights, kernels: Kernels, pool: ComputePool) {
        self.configuration = configuration
        self.weights = weights
        self.kernels = kernels.table
        self.pool = pool
        let half = configuration.rotaryDimension / 2
        func table(_ factors: [Double]?, _ magnitude: Double) -> RotaryTable {
            RotaryTable(half: half, theta: configuration.ropeTheta, factors: factors, magnitude: magnitude)
        }
        switch configuration.ropeScaling {
        case .none:
            shortRope = table(nil, 1)
            longRope = nil
        case .longrope(let rope):
            shortRope = table(rope.shortFactors, rope.attentionFactor)
            longRope = table(rope.longFactors, rope.attentionFactor)
        }
    }

    private var products: [PackedMatrix] {
        weights.layers.flatMap { [$0.qkv, $0.output, $0.gateUp, $0.down] } + [weights.head]
    }
    var multiplyAddsPerToken: Int { products.reduce(0) { $0 + $1.rows * $1.columns } }
    var weightBytes: Int { products.reduce(0) { $0 + $1.bytes } }

    /// Floats between two rows of logits.
    var logitsStride: Int { weights.head.blocks * 16 }

    /// Runs all rows through the model, writing their keys and values to the cache.
    /// - Returns: the rows of logits that the runs want, in order, `logitsStride` apart; valid until the
    ///   next call.
    func forward(_ runs: [RowRun], cache: borrowing KVCache) -> UnsafeMutablePointer<Float> {
        var rows: [(run: Int, offset: Int)] = []
        for (number, run) in runs.enumerated() {
            for offset in run.tokens.indices { rows.append((number, offset - run.tokens.startIndex)) }
            (run.longRope ? longRope ?? shortRope : shortRope).prepare(run.start + run.tokens.count)
        }
        let width = configuration.hiddenSize
        hidden.reserve(rows.count * width)
        normed.reserve(rows.count * max(width, configuration.intermediateSize))
        let hidden = hidden.pointer
        pool.run(rows.count) { row in
            let run = runs[rows[row].run]
            let token = Int(run.tokens[run.tokens.startIndex + rows[row].offset])
            withUnsafePointer(to: weights.embedding.matrix) {
                kernels.dequantize_row($0, token, hidden + row * width)
            }
        }
        for number in weights.layers.indices {
            attention(number, rows, runs, cache)
            feedForward(weights.layers[number], rows.count)
        }
        return head(runs)
    }

    /// hidden += output(attention(norm(hidden)))
    private func attention(
        _ number: Int, _ rows: [(run: Int, offset: Int)], _ runs: [RowRun], _ cache: borrowing KVCache
    ) {
        let layer = weights.layers[number]
        let heads = configuration.headCount
        let groups = configuration.keyValueHeadCount
        let n = configuration.headDimension
        let dims = cache.dims
        normInput(layer.attentionNorm, rows.count, layer.qkv)
        let stride = layer.qkv.blocks * 16
        projected.reserve(rows.count * max(stride, configuration.hiddenSize + 16))
        input.multiply(rows: rows.count, into: projected.pointer, kernels, pool)

        queryValues.reserve(rows.count * heads * dims)
        queryScales.reserve(rows.count * heads)
        querySums.reserve(rows.count * heads)
        attended.reserve(rows.count * heads * n)
        let (qkv, attended) = (projected.pointer, attended.pointer)
        let (values, scales, sums) = (queryValues.pointer, queryScales.pointer, querySums.pointer)
        let softmaxScale = 1 / Float(n).squareRoot()
        // The cache can't be captured; its addresses can.
        let first = cache.pointer(block: 0, layer: number, head: 0)
        let (blockBytes, headBytes) = (cache.blockBytes, cache.headBytes)

        pool.run(rows.count) { row in
            let run = runs[rows[row].run]
            let position = run.start + rows[row].offset
            let rope = run.longRope ? longRope ?? shortRope : shortRope
            let (cosines, sines) = (rope.cosines(position), rope.sines(position))
            let q = qkv + row * stride
            let k = q + heads * n
            let v = k + groups * n
            for head in 0..<heads {
                kernels.rotate(q + head * n, cosines, sines, rope.half)
                let at = row * heads + head
                kernels.quantize_query(
                    q + head * n, n, dims, softmaxScale, values + at * dims, scales + at, sums + at)
            }
            let block = first + Int(run.blocks[position / KVCache.blockLength]) * blockBytes
            for head in 0..<groups {
                kernels.rotate(k + head * n, cosines, sines, rope.half)
                kernels.store_kv(
                    block + head * headBytes, position % KVCache.blockLength, k + head * n, v + head * n, n,
                    dims)
            }
        }

        let tiles = attentionTiles(runs)
        pool.run(tiles.count * groups) { task in
            let tile = tiles[task / groups]
            let group = task % groups
            let run = runs[tile.run]
            let perGroup = heads / groups
            var queries: [PhiQuery] = []
            var out: [UnsafeMutablePointer<Float>?] = []
            var begin = Int.max
            var end = 0
            for row in tile.rows {
                let position = run.start + row - tile.firstRow
                let from = configuration.slidingWindow.map { max(0, position + 1 - $0) } ?? 0
                begin = min(begin, from)
                end = max(end, position + 1)
                for head in group * perGroup..<(group + 1) * perGroup {
                    let at = row * heads + head
                    queries.append(
                        PhiQuery(
                            values: values + at * dims, scale: scales[at], sum: sums[at],
                            begin: UInt32(from), end: UInt32(position + 1)))
                    out.append(attended + at * n)
                }
            }
            let used = (end + KVCache.blockLength - 1) / KVCache.blockLength
            let blocks = run.blocks.prefix(used).map { block -> UnsafePointer<UInt8>? in
                UnsafePointer(first + Int(block) * blockBytes + group * headBytes)
            }
            let scores = UnsafeMutablePointer<Float>.allocate(
                capacity: queries.count * (used - begin / KVCache.blockLength) * KVCache.blockLength)
            kernels.attend(queries, queries.count, blocks, dims, n, scores, out)
            scores.deallocate()
        }

        input.prepare(rows: rows.count, for: layer.output)
        pool.run(rows.count) { row in input.set(row: row, attended + row * heads * n, kernels) }
        input.multiply(rows: rows.count, into: projected.pointer, kernels, pool)
    }

    /// Rows of one run that one task attends with: few enough that the queries stay in cache.
    private func attentionTiles(_ runs: [RowRun]) -> [(run: Int, firstRow: Int, rows: Range<Int>)] {
        var tiles: [(run: Int, firstRow: Int, rows: Range<Int>)] = []
        var row = 0
        for (number, run) in runs.enumerated() {
            let end = row + run.tokens.count
            for begin in stride(from: row, to: end, by: 16) {
                tiles.append((number, row, begin..<min(end, begin + 16)))
            }
            row = end
        }
        return tiles
    }

    /// hidden += what attention projected; hidden += down(silu(gate) * up) of norm(hidden)
    private func feedForward(_ layer: PhiWeights.Layer, _ rows: Int) {
        let width = configuration.hiddenSize
        let inner = configuration.intermediateSize
        addProjected(rows, layer.output.blocks * 16)
        normInput(layer.feedForwardNorm, rows, layer.gateUp)
        let stride = layer.gateUp.blocks * 16
        projected.reserve(rows * stride)
        input.multiply(rows: rows, into: projected.pointer, kernels, pool)
        input.prepare(rows: rows, for: layer.down)
        let (gateUp, activated) = (projected.pointer, normed.pointer)
        pool.run(rows) { row in
            let gate = gateUp + row * stride
            let out = activated + row * inner
            kernels.silu_multiply(gate, gate + inner, inner, out)
            input.set(row: row, out, kernels)
        }
        projected.reserve(rows * (width + 16))
        input.multiply(rows: rows, into: projected.pointer, kernels, pool)
        addProjected(rows, layer.down.blocks * 16)
    }

    /// hidden += the rows last projected, `stride` apart.
    private func addProjected(_ rows: Int, _ stride: Int) {
        let width = configuration.hiddenSize
        let (hidden, projected) = (hidden.pointer, projected.pointer)
        pool.run(rows) { row in kernels.add(hidden + row * width, projected + row * stride, width) }
    }

    /// Makes norm(hidden) the input of a product with `matrix`.
    private func normInput(_ weight: [Float], _ rows: Int, _ matrix: PackedMatrix) {
        let width = configuration.hiddenSize
        let (hidden, normed) = (hidden.pointer, normed.pointer)
        input.prepare(rows: rows, for: matrix)
        pool.run(rows) { row in
            kernels.rms_norm(
                hidden + row * width, weight, Float(configuration.normEpsilon), width, normed + row * width)
            input.set(row: row, normed + row * width, kernels)
        }
    }

    /// The logits behind those rows of each run that want them.
    private func head(_ runs: [RowRun]) -> UnsafeMutablePointer<Float> {
        let width = configuration.hiddenSize
        var wanted: [Int] = []
        var row = 0
        for run in runs {
            row += run.tokens.count
            wanted += row - run.logitRows..<row
        }
        logits.reserve(max(1, wanted.count) * logitsStride)
        if wanted.isEmpty { return logits.pointer }
        let (hidden, normed) = (hidden.pointer, normed.pointer)
        input.prepare(rows: wanted.count, for: weights.head)
        pool.run(wanted.count) { index in
            kernels.rms_norm(
                hidden + wanted[index] * width, weights.norm, Float(configuration.normEpsilon), width,
                normed + index * width)
            input.set(row: index, normed + index * width, kernels)
        }
        input.multiply(rows: wanted.count, into: logits.pointer, kernels, pool)
        return logits.pointer
    }
}
