import BatchEngine
import CPhiKernels

/// A forward pass on the CPU. Operations that only prepare a matmul's input are fused into that preparation, and so are
/// additions to the hidden rows.
package final class RowOps: RowOperations {
    package typealias Linear = PhiModel.Linear
    package typealias Embedding = PhiModel.Linear
    package typealias Norm = PhiModel.Norm
    package typealias Experts = ExpertLayer
    typealias Input = RowInput<Norm>

    let shape: ModelShape
    let cache: KVCache
    let matmuls: Matmuls
    private let weights: PackedWeights
    private let kernels: PhiKernels
    private let pool: ComputePool
    private let attention: Attention
    private let rope: RotaryTables

    /// [rows][hidden size]
    private let hidden = Buffer<Float>()
    /// [rows][hidden size] norms, or [kept rows][columns] activations.
    private let normed = Buffer<Float>()
    /// The last matmul's results [kept rows][projectedWidth].
    private let projected = Buffer<Float>()
    private var projectedWidth = 0
    /// [kept rows][attendedWidth]
    private let attended = Buffer<Float>()
    private var attendedWidth = 0
    private let logitsBuffer = Buffer<Float>()
    /// Room for as many floats, for readers of logits.
    private let logitsScratch = Buffer<Float>()
    private let input = MatmulInput()
    private let experts: ExpertRows
    /// Memory of mixers, by number.
    private var mixerMemory: [Buffer<Float>] = []

    /// Rows of logits computed at a time.
    static let logitRows = 32

    // State of the pass.
    /// Runs of the rows that are still computed.
    private var runs: [RowRun] = []
    /// Whether attention is prepared for them.
    private var isPrepared = false
    private var head: (linear: Linear, source: Input)?
    private var rowCount = 0
    /// Rows that are still computed, in order.
    private var kept: [Int] = []
    /// Whether the last product's results must still be added to hidden.
    private var addsProjected = false

    init(
        _ shape: ModelShape, weights: PackedWeights, cache: consuming KVCache, kernels: Kernels,
        pool: ComputePool
    ) {
        self.shape = shape
        self.weights = weights
        self.cache = cache
        self.kernels = kernels.table
        self.pool = pool
        rope = RotaryTables(shape.rope)
        attention = Attention(
            shape.layers, rope: rope, slots: self.cache.slots, kernels: kernels.table, pool: pool)
        matmuls = Matmuls(weights, kernels.table, pool)
        experts = ExpertRows(matmuls)
    }

    /// Runs all rows through a model, and writes their keys and values to the cache.
    /// - Parameter use: receives the rows of logits that the runs want, in order and some at a time.
    /// - Throws: `UserError` if there is no memory for this many rows; what `use` throws.
    func run(
        _ runs: [RowRun], through network: LayeredNetwork<RowOps>,
        use: (LogitPiece) throws -> Void = { _ in }
    ) throws {
        self.runs = runs
        rowCount = runs.reduce(0) { $0 + $1.tokens.count }
        kept = Array(0..<rowCount)
        head = nil
        addsProjected = false
        rope.prepare(runs)
        matmuls.startClock()
        try attention.prepare(runs)
        isPrepared = true
        try network.forward(self)
        try readLogits(use)
    }

    package func embed(_ embedding: Embedding, times multiplier: Float) throws(UserError) {
        let width = shape.hiddenSize
        try hidden.reserve(rowCount * width)
        let hidden = hidden.pointer
        let tokens = runs.flatMap(\.tokens)
        let matrix = try weights[embedding.place].matrix
        pool.runRows(rowCount) { row in
            withUnsafePointer(to: matrix) {
                kernels.dequantize_row($0, Int(tokens[row]), hidden + row * width)
            }
            guard multiplier != 1 else { return }
            for i in row * width..<(row + 1) * width { hidden[i] *= multiplier }
        }
    }

    package func project(_ linears: [Linear], of source: RowInput<Norm>) throws(UserError) {
        precondition(linears.count == 1 || source.isNorm)
        let isAdapted = linears.contains { $0.adapter != nil }
        try prepare(source, for: weights[linears[0].place], keepsFloats: isAdapted)
        let offsets = linears.indices.map { linears[..<$0].reduce(0) { $0 + $1.rows } }
        projectedWidth = linears.last.map { $0.width + offsets[linears.count - 1] } ?? 0
        try projected.reserve(kept.count * projectedWidth)
        for (linear, offset) in zip(linears, offsets) {
            // Padding to a whole block is overwritten by the next one.
            if try !input.fits(weights[linear.place]) {
                try prepare(.normed, for: weights[linear.place], keepsFloats: isAdapted)
            }
            try matmuls.multiply(
                input, rows: kept.count, by: linear, into: projected.pointer + offset, stride: projectedWidth)
        }
    }

    package func mix(_ layer: ExpertLayer, of source: RowInput<Norm>) throws(UserError) {
        precondition(source.isNorm && layer.router.columns == shape.hiddenSize)
        try prepare(source, for: layer.router, keepsFloats: false)
        projectedWidth = shape.hiddenSize
        try projected.reserve(kept.count * projectedWidth)
        try experts.run(
            layer, rows: kept, of: UnsafePointer(normed.pointer), into: projected.pointer)
    }

    package func attend(layer: Int, norms: HeadNorms<Norm>?) throws(UserError) {
        precondition(kept.count == rowCount && !addsProjected)
        attendedWidth = shape.layers[layer].queryWidth
        try attended.reserve(rowCount * attendedWidth)
        attention.attend(
            projected.pointer, stride: projectedWidth, norms: norms, layer: layer, cache: cache, runs: runs,
            out: attended.pointer)
        matmuls.countAttention()
    }

    package func mix(layer: Int, _ mixer: any RowMixer) throws(UserError) {
        precondition(!addsProjected)
        attendedWidth = mixer.width
        try attended.reserve(kept.count * attendedWidth)
        if !isPrepared {
            try attention.prepare(runs)
            isPrepared = true
        }
        let rows = MixerRows(
            values: UnsafePointer(projected.pointer), stride: projectedWidth, runs: runs, numbers: kept,
            kernels: kernels, pool: pool,
            memory: { number, count throws(UserError) in
                while self.mixerMemory.count <= number { self.mixerMemory.append(Buffer()) }
                try self.mixerMemory[number].reserve(count)
                return self.mixerMemory[number].pointer
            },
            state: { self.cache.state(of: $0, place: $1, layer: layer) },
            attend: { qkv, stride, out, other in
                self.attention.attend(
                    qkv, stride: stride, norms: nil, layer: other ?? layer, storesKeys: other == nil,
                    cache: self.cache, runs: self.runs, out: out)
            })
        try mixer.run(rows, into: attended.pointer)
        matmuls.countAttention()
    }

    package func addToHidden() {
        precondition(!addsProjected)
        addsProjected = true
    }

    package func keepRowsWithLogits() {
        precondition(kept.count == rowCount && !addsProjected)
        var end = 0
        kept = runs.flatMap { run in
            end += run.tokens.count
            return end - run.logitRows..<end
        }
        if kept.count == rowCount { return }
        for (place, row) in kept.enumerated() where place != row {
            (attended.pointer + place * attendedWidth).update(
                from: attended.pointer + row * attendedWidth, count: attendedWidth)
        }
        runs = runs.compactMap(\.withLogits)
        isPrepared = false
    }

    package func makeLogits(_ head: Linear, of source: RowInput<Norm>) {
        self.head = (head, source)
    }

    /// Computes some rows of logits at a time, as those of a long prompt would take much memory.
    private func readLogits(_ use: (LogitPiece) throws -> Void) throws {
        guard let (head, source) = head, !kept.isEmpty else { return }
        let all = kept
        let stride = shape.vocabularySize.rounded(up: 16)
        precondition(head.width == stride)
        try logitsBuffer.reserve(min(all.count, Self.logitRows) * stride)
        try logitsScratch.reserve(min(all.count, Self.logitRows) * stride)
        if addsProjected, all.count > Self.logitRows { addProjected() }
        for start in Swift.stride(from: 0, to: all.count, by: Self.logitRows) {
            let rows = start..<min(start + Self.logitRows, all.count)
            kept = Array(all[rows])
            try prepare(source, for: weights[head.place], keepsFloats: head.adapter != nil)
            try matmuls.multiply(
                input, rows: kept.count, by: head, into: logitsBuffer.pointer, stride: stride)
            try use(
                LogitPiece(
                    rows: rows, logits: logitsBuffer.pointer, scratch: logitsScratch.pointer, stride: stride,
                    count: shape.vocabularySize))
            matmuls.startClock()
        }
    }

    /// Makes `source` of the kept rows the input of a matmul, after the pending addition to hidden.
    private func prepare(
        _ source: Input, for matrix: PackedMatrix, keepsFloats: Bool
    ) throws(UserError) {
        try input.prepare(rows: kept.count, for: matrix, keepsFloats: keepsFloats)
        switch source {
        case .norm(let norm):
            try normed.reserve(rowCount * shape.hiddenSize)
            let (normed, width) = (normed.pointer, shape.hiddenSize)
            setInput(matrix, width) { row, hidden, _ in
                norm.apply(hidden, width, normed + row * width, kernels)
                return UnsafePointer(normed + row * width)
            }
        case .normed:
            let (normed, width) = (normed.pointer, shape.hiddenSize)
            setInput(matrix, width) { row, _, _ in UnsafePointer(normed + row * width) }
        case .attended:
            let (attended, width) = (attended.pointer, attendedWidth)
            setInput(matrix, width) { _, _, index in UnsafePointer(attended + index * width) }
        case .gatedSilu:
            precondition(!addsProjected)
            let width = matrix.columns
            try normed.reserve(kept.count * width)
            let normed = normed.pointer
            setInput(matrix, width) { _, _, index in
                let gate = projected.pointer + index * projectedWidth
                kernels.silu_multiply(gate, gate + width, width, normed + index * width)
                return UnsafePointer(normed + index * width)
            }
        case .gelu:
            precondition(!addsProjected)
            let width = matrix.columns
            setInput(matrix, width) { _, _, index in
                let x = projected.pointer + index * projectedWidth
                kernels.gelu(x, width, x)
                return UnsafePointer(x)
            }
        case .gegelu(let limit):
            precondition(!addsProjected)
            let width = matrix.columns
            try normed.reserve(kept.count * 2 * width)
            let normed = normed.pointer
            setInput(matrix, width) { _, _, index in
                let gate = normed + index * 2 * width
                Gegelu.apply(
                    projected.pointer + index * projectedWidth, width, limit: limit, gate, kernels)
                return UnsafePointer(gate)
            }
        }
    }

    /// Does the pending addition to hidden.
    private func addProjected() {
        let size = shape.hiddenSize
        pool.runRows(kept.count) { index in
            kernels.add(
                hidden.pointer + kept[index] * size, projected.pointer + index * projectedWidth, size)
        }
        addsProjected = false
    }

    /// Sets the input's rows from the floats [width] that `make` returns for a row, its hidden floats, and its index
    /// among the kept rows.
    private func setInput(
        _ matrix: PackedMatrix, _ width: Int,
        _ make: (_ row: Int, _ hidden: UnsafePointer<Float>, _ index: Int) -> UnsafePointer<Float>
    ) {
        precondition(width == matrix.columns)
        let (adds, size) = (addsProjected, shape.hiddenSize)
        pool.runRows(kept.count) { index in
            let row = kept[index]
            let hidden = hidden.pointer + row * size
            if adds { kernels.add(hidden, projected.pointer + index * projectedWidth, size) }
            input.set(row: index, make(row, hidden, index), kernels)
        }
        addsProjected = false
    }
}
