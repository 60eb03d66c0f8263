import BatchEngine
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
    private let logits = Buffer<Float>()
    private let input = ProductInput()
    private let attention: Attention
    /// Where the time of all steps so far went.
    private(set) var times = ComputeTimes()
    private var clock = Stopwatch()

    init(_ configuration: ModelConfiguration, weights: PhiWeights, kernels: Kernels, pool: ComputePool) {
        self.configuration = configuration
        self.weights = weights
        self.kernels = kernels.table
        self.pool = pool
        attention = Attention(configuration, kernels: kernels.table, pool: pool)
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
    /// Multiply-adds of a step's products: of `rows` rows, behind `wanted` of which logits are asked for.
    func multiplyAdds(rows: Int, wanted: Int) -> Int {
        func size(_ matrix: PackedMatrix) -> Int { matrix.rows * matrix.columns }
        return weights.layers.indices.reduce(wanted * size(weights.head)) { sum, number in
            let layer = weights.layers[number]
            let kept = keepsAll(number) ? rows : wanted
            return sum + rows * size(layer.qkv)
                + kept * (size(layer.output) + size(layer.gateUp) + size(layer.down))
        }
    }
    /// Behind the last attention nobody asks for the rows without logits.
    private func keepsAll(_ layer: Int) -> Bool { layer < weights.layers.count - 1 }
    var weightBytes: Int { products.reduce(0) { $0 + $1.bytes } }

    /// Floats between two rows of logits.
    var logitsStride: Int { weights.head.blocks * 16 }

    /// Runs all rows through the model, writing their keys and values to the cache.
    /// - Returns: the rows of logits that the runs want, in order, `logitsStride` apart; valid until the
    ///   next call.
    /// - Throws: `ModelError` if there is no memory for this many rows.
    func forward(_ runs: [RowRun], cache: borrowing KVCache) throws(ModelError) -> UnsafeMutablePointer<Float>
    {
        var rows: [(run: Int, offset: Int)] = []
        for (number, run) in runs.enumerated() {
            for offset in run.tokens.indices { rows.append((number, offset - run.tokens.startIndex)) }
            (run.longRope ? longRope ?? shortRope : shortRope).prepare(run.start + run.tokens.count)
        }
        clock.start()
        try attention.prepare(runs, dims: cache.dims)
        let width = configuration.hiddenSize
        try hidden.reserve(rows.count * width)
        try normed.reserve(rows.count * max(width, configuration.intermediateSize))
        let hidden = hidden.pointer
        pool.runRows(rows.count) { row in
            let run = runs[rows[row].run]
            let token = Int(run.tokens[run.tokens.startIndex + rows[row].offset])
            withUnsafePointer(to: weights.embedding.matrix) {
                kernels.dequantize_row($0, token, hidden + row * width)
            }
        }
        let wanted = rowsWithLogits(runs)
        let all = Array(rows.indices)
        var added: PackedMatrix?
        for (number, layer) in weights.layers.enumerated() {
            let kept = keepsAll(number) ? all : wanted
            try attend(number, rows.count, adding: added, kept, runs, cache)
            try feedForward(layer, kept)
            added = layer.down
        }
        return try head(wanted, adding: added)
    }

    private func rowsWithLogits(_ runs: [RowRun]) -> [Int] {
        var end = 0
        return runs.flatMap { run in
            end += run.tokens.count
            return end - run.logitRows..<end
        }
    }

    /// What attention makes of norm(hidden), projected, for the rows `kept`.
    private func attend(
        _ number: Int, _ rows: Int, adding added: PackedMatrix?, _ kept: [Int], _ runs: [RowRun],
        _ cache: borrowing KVCache
    ) throws(ModelError) {
        let layer = weights.layers[number]
        let width = configuration.attentionWidth
        let stride = layer.qkv.blocks * 16
        try normInput(layer.attentionNorm, Array(0..<rows), adding: added, for: layer.qkv)
        try multiply(rows, by: layer.qkv)

        try attended.reserve(rows * width)
        let (qkv, attended) = (projected.pointer, attended.pointer)
        attention.attend(
            qkv, stride: stride, layer: number, cache: cache,
            rope: { $0.longRope ? self.longRope ?? self.shortRope : self.shortRope }, runs: runs,
            out: attended)
        times.attention += clock.lap()

        try input.prepare(rows: kept.count, for: layer.output)
        pool.runRows(kept.count) { index in input.set(row: index, attended + kept[index] * width, kernels) }
        try multiply(kept.count, by: layer.output)
    }

    /// down(silu(gate) * up) of norm(hidden), for the rows `kept`.
    private func feedForward(_ layer: PhiWeights.Layer, _ kept: [Int]) throws(ModelError) {
        let inner = configuration.intermediateSize
        let stride = layer.gateUp.blocks * 16
        try normInput(layer.feedForwardNorm, kept, adding: layer.output, for: layer.gateUp)
        try multiply(kept.count, by: layer.gateUp)
        try input.prepare(rows: kept.count, for: layer.down)
        let (gateUp, activated) = (projected.pointer, normed.pointer)
        pool.runRows(kept.count) { row in
            let gate = gateUp + row * stride
            let out = activated + row * inner
            kernels.silu_multiply(gate, gate + inner, inner, out)
            input.set(row: row, out, kernels)
        }
        try multiply(kept.count, by: layer.down)
    }

    /// The logits behind the rows `wanted`.
    private func head(_ wanted: [Int], adding added: PackedMatrix?) throws(ModelError)
        -> UnsafeMutablePointer<Float>
    {
        try logits.reserve(max(1, wanted.count) * logitsStride)
        if wanted.isEmpty { return logits.pointer }
        try normInput(weights.norm, wanted, adding: added, for: weights.head)
        times.rows += clock.lap()
        input.multiply(rows: wanted.count, into: logits.pointer, kernels, pool)
        times.products += clock.lap()
        return logits.pointer
    }

    /// projected = the prepared input times its matrix.
    private func multiply(_ rows: Int, by matrix: PackedMatrix) throws(ModelError) {
        try projected.reserve(rows * matrix.blocks * 16)
        times.rows += clock.lap()
        input.multiply(rows: rows, into: projected.pointer, kernels, pool)
        times.products += clock.lap()
    }

    /// Adds what was last projected, by the matrix `added`, to the rows `kept` of hidden, and makes their
    /// norm the input of a product with `matrix`.
    private func normInput(
        _ weight: [Float], _ kept: [Int], adding added: PackedMatrix?, for matrix: PackedMatrix
    ) throws(ModelError) {
        let width = configuration.hiddenSize
        let (hidden, normed, projected) = (hidden.pointer, normed.pointer, projected.pointer)
        try input.prepare(rows: kept.count, for: matrix)
        pool.runRows(kept.count) { index in
            let row = hidden + kept[index] * width
            if let added { kernels.add(row, projected + index * added.blocks * 16, width) }
            kernels.rms_norm(row, weight, Float(configuration.normEpsilon), width, normed + index * width)
            input.set(row: index, normed + index * width, kernels)
        }
    }
}
