import BatchEngine
import Errors
import FoundationShim
import OperatingSystem

/// A loaded Phi model that MLX computes: on Apple's and NVIDIA's GPUs, or on the processor if there is none.
///
/// MLX's sums depend on the number of rows in a pass, so a result is the same only to within rounding, not byte for
/// byte. Everything else is as in `PhiEngine`: limits of sequences, rotary factors, and sampling.
// Unchecked: MLX's arrays are C++'s, used by one thread at a time, as `Engine` demands.
package final class MLXEngine: ModelEngine, @unchecked Sendable {
    package let limits: ModelLimits
    package let codec: TextCodec?
    package let notes: [String]
    package var advice: [String] {
        mlx.isGPU
            ? [] : ["MLX finds no GPU and computes on the processor, where \"engine: cpu\" is much faster"]
    }
    package let threads: Int
    package var kernelName: String { "mlx" }
    package let weightBytes: Int

    private let shape: ModelShape
    private let mlx: MLXLibrary
    private let network: LayeredNetwork<MLXOperations>
    private let rotary: MLXRotary
    private let cache: MLXCache
    package var blocks: KVBlocks
    package let logits: LogitReader
    /// For readers of logits.
    private let scratch = Buffer<Float>()
    /// Time of all passes so far.
    private var seconds = 0.0

    /// Rows of logits computed at a time.
    private static let logitRows = 32
    /// Bytes of freed buffers that MLX keeps for reuse.
    private static let bufferBytes = 256 << 20

    /// Loads the model in `folder`, with its quantized weights as in the checkpoint.
    /// - Throws: `UserError` naming the file, tensor or key at fault, or what MLX lacks.
    package convenience init(folder: String, options: EngineOptions = EngineOptions()) throws {
        // MLX has no fast arithmetic of 16-bit floats on processors: products would take a hundred times as long.
        try self.init(folder: folder, options: options, inFloat32: !MLXLibrary.load().isGPU)
    }

    /// - Parameter inFloat32: whether to compute in float32 instead of the checkpoint's precision.
    init(folder: String, options: EngineOptions, inFloat32: Bool) throws {
        let mlx = try MLXLibrary.load()
        let model = try Architectures.read(folder: folder)
        // Before anything large is read.
        if !model.shape.stateWidths.isEmpty { throw Self.refusal(type(of: model), folder) }
        let store = try TensorStore(model, in: folder, adapter: options.adapter)
        let memory = try MemoryCheck(mlx: model, store, inFloat32: inFloat32)
        let budget = try memory.budget(asked: options.kvBudget)
        codec = try TextCodec(folder: folder)
        let shape = model.shape
        (network, rotary, cache) = try mlx.use {
            let others = mlx.memory.active
            var reader = MLXWeightReader(mlx, store, inFloat32: inFloat32)
            let network = try model.network(&reader)
            try store.adapter?.checkUse(of: reader.adapted)
            let element = reader.element ?? .f16
            let rotary = MLXRotary(
                mlx, shape.rope, headDimension: shape.attention.headDimension, element: element)
            let cache = MLXCache(mlx, shape, element: element, budget: budget)
            mlx.limitMemory(
                total: others + memory.weightBytes + memory.workingBytes + budget,
                cache: Self.bufferBytes)
            return (network, rotary, cache)
        }
        guard cache.capacity > 0 else {
            throw UserError(
                .resources,
                "a KV cache of \(budget) bytes is too small: \(KVCache.blockLength) tokens of this model need \(cache.blockBytes) bytes"
            )
        }
        self.mlx = mlx
        self.shape = shape
        limits = ModelLimits(shape, codec)
        blocks = KVBlocks(
            limits, capacity: cache.capacity, blockLength: KVCache.blockLength, blockBytes: cache.blockBytes)
        let pool = ComputePool(threads: options.threads ?? Processors.count)
        threads = pool.threads
        logits = LogitReader(Sampler(try Kernels.chosen().table)) { pool.run($0, $1) }
        notes = store.notes
        weightBytes = memory.weightBytes
    }

    static func refusal(_ model: any Architecture.Type, _ folder: String) -> UserError {
        UserError(
            .unsupported, at: folder,
            "holds \(model.models), which the engine mlx can't run; use \"engine: cpu\".")
    }

    package var identity: [(name: String, value: String)] { Self.identity(mlx) }

    static func identity(_ mlx: MLXLibrary) -> [(name: String, value: String)] {
        [
            // Raised with every change of the models' definitions that changes results.
            ("engine", "mlx 1"), ("mlx", MLXLibrary.wantedVersion), ("device", mlx.device),
            ("ends", TextCodec.turnEndNames.joined(separator: " ")),
        ]
    }

    /// MLX does not measure kinds of work: everything counts as matmuls.
    package var times: ComputeTimes {
        var times = ComputeTimes()
        times.sampling = logits.seconds
        times.matmul = seconds - logits.seconds
        return times
    }

    package func provenance(of cache: SequenceCache) -> [String: String] {
        var facts = blocks.provenance(of: cache)
        facts["engine"] = "mlx \(MLXLibrary.wantedVersion), \(mlx.device)"
        return facts
    }

    // MARK: Forward passes

    package func order(_ runs: [RowRun]) -> [Int] { MLXRows.order(runs) }

    package func forward(_ runs: [RowRun], use: (LogitPiece) throws -> Void) throws {
        let start = Moment.now
        defer { seconds += .now - start }
        try mlx.use { try run(runs, use: use) }
    }

    private func run(_ runs: [RowRun], use: (LogitPiece) throws -> Void) throws {
        try cache.grow(to: runs.reduce(0) { max($0, $1.blocks.prefix($1.usedBlocks).max() ?? 0) })
        let rows = MLXRows(mlx, runs, sights: Set(shape.layers.map(\.sight)))
        let operations = MLXOperations(shape, rows: rows, cache: cache, rotary: rotary)
        try network.forward(operations)
        // The cache is evaluated with the first rows of logits: one wait a pass.
        var due = cache.arrays
        if let (head, hidden) = operations.head {
            for start in stride(from: 0, to: rows.keptCount, by: Self.logitRows) {
                let some = start..<min(start + Self.logitRows, rows.keptCount)
                let values = head(hidden.slice(axis: 0, some)).converted(to: .f32)
                try mlx.evaluate(due + [values] + (some.upperBound < rows.keptCount ? [hidden] : []))
                due = []
                try read(values, some, use)
            }
        }
        if !due.isEmpty { try mlx.evaluate(due) }
    }

    private func read(
        _ values: MLXArray, _ rows: Range<Int>, _ use: (LogitPiece) throws -> Void
    ) throws {
        guard let start = values.values else {
            throw UserError(.resources, "MLX failed: the logits can't be read")
        }
        let size = shape.vocabularySize
        try scratch.reserve(rows.count * size)
        try withExtendedLifetime(values) {
            try use(
                LogitPiece(
                    rows: rows, logits: start.assumingMemoryBound(to: Float.self), scratch: scratch.pointer,
                    stride: size, count: size))
        }
    }

    // MARK: Memory

    /// Memory of all MLX arrays, now and at its peak.
    package var memory: (active: Int, peak: Int) { mlx.memory }
    /// The most bytes of the KV cache.
    package var cacheBytes: Int { cache.capacity * cache.blockBytes }
}
