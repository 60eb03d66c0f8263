import BatchEngine
import OperatingSystem

/// Options of loading a model.
public struct EngineOptions: Sendable {
    /// The engine.
    public var engine = EngineKind.cpu
    /// Compute threads; nil takes one for each processor that this process may use.
    public var threads: Int?
    /// Bytes of KV cache; nil takes a quarter of the machine's memory, or less if less is free.
    public var kvBudget: Int?
    /// Precision of the KV cache, if `engine` leaves it open.
    public var kvPrecision: KVPrecision
    /// Name of the kernels (see `Kernels`); nil takes `PHIBATCH_KERNELS` or the best.
    package var kernels: String?
    /// Folder in which packed weights are kept from one start to the next. Off by default: a library writes no files on
    /// its own.
    public var cache: WeightCacheLocation
    /// Whether quantized weights are expanded to floats, and their inputs stay floats.
    package var expandsWeights = false
    /// Number of sequences that may run if each has its own memory beside blocks; nil chooses.
    package var sequences: Int?
    /// The folder of a LoRA adapter, of Hugging Face's PEFT or of MLX, that is applied to the model.
    public var adapter: String?

    public init(
        threads: Int? = nil, kvBudget: Int? = nil, kvPrecision: KVPrecision = .int8,
        cache: WeightCacheLocation = .off
    ) {
        self.cache = cache
        self.threads = threads
        self.kvBudget = kvBudget
        self.kvPrecision = kvPrecision
    }
}

/// A loaded Phi model: weights, KV cache and compute threads. `text` converts text to tokens and back.
///
/// Used by one caller at a time, as `Engine` demands. A sequence's results do not depend on the others in a pass, the
/// number of threads, or the kernels.
// Unchecked: buffers and cache are C memory, used by one thread at a time, as `Engine` demands.
package final class PhiEngine: ModelEngine, @unchecked Sendable {
    package let shape: ModelShape
    package let limits: ModelLimits
    package let identity: [(name: String, value: String)]
    package let kernels: Kernels
    package let threads: Int
    package let codec: TextCodec?
    package let notes: [String]
    package let advice: [String]
    /// Reason why packed weights are not cached although `EngineOptions.cache` asks for it; nil if they are. It only
    /// makes the next start slower.
    let cacheFault: String?

    private let network: LayeredNetwork<RowOps>
    let rows: RowOps
    let pool: ComputePool
    package let logits: LogitReader
    package var blocks: KVBlocks
    private var move: WeightMove?
    private var hasStepped = false

    /// Loads the model in `folder`: MLX's quantized format, of one of the `Architectures`.
    /// - Throws: `UserError` naming the file, tensor or key at fault.
    package init(folder: String, options: EngineOptions = EngineOptions()) throws {
        let model = try Architectures.read(folder: folder)
        shape = model.shape
        kernels = try options.kernels.map { try Kernels.chosen($0) } ?? Kernels.chosen()
        let store = try TensorStore(model, in: folder, adapter: options.adapter)
        let threads = options.threads ?? Processors.count
        // Before anything large is read.
        let budget = try MemoryCheck(
            model, store, precision: options.kvPrecision, cache: options.cache, threads: threads,
            expands: options.expandsWeights
        ).budget(asked: options.kvBudget)
        codec = try TextCodec(folder: folder)
        let cache = try KVCache(
            shape, precision: options.kvPrecision, budget: budget, sequences: options.sequences)
        guard cache.capacity > 0 else {
            throw UserError(
                .resources,
                "a KV cache of \(budget) bytes is too small: \(KVCache.blockLength) tokens of this model "
                    + "need \(KVCache.bytes(shape, options.kvPrecision, tokens: 1)) bytes")
        }
        limits = ModelLimits(shape, codec)
        identity = Self.identity(options)
        blocks = KVBlocks(
            limits, capacity: cache.capacity, blockLength: KVCache.blockLength, blockBytes: cache.blockBytes,
            slots: cache.slots)
        pool = ComputePool(threads: threads)
        self.threads = pool.threads
        var reader = WeightReader(store, pool: pool, expands: options.expandsWeights)
        network = try model.network(&reader)
        try store.adapter?.checkUse(of: reader.adapted)
        let weights = try PackedWeights(reader.plan, from: store, cache: options.cache, pool: pool)
        weightBytes = try reader.multiplied.reduce(0) { try $0 + weights[$1].bytes }
        cacheFault = weights.cacheFault
        notes = store.notes + weights.notes
        let cacheNote = cacheFault.map { "packed weights are not kept for the next start: \($0)" }
        advice = [reader.plan.quantizationAdvice(store), pool.fault, cacheNote].compactMap(\.self)
        move = weights.move
        rows = RowOps(shape, weights: weights, cache: cache, kernels: kernels, pool: pool)
        logits = LogitReader(Sampler(kernels.table)) { [pool] in pool.run($0, $1) }
    }

    package let weightBytes: Int
    package var kernelName: String { kernels.name }

    /// Uses the engine's own threads, so that two sets do not compete.
    package func makeProbe() throws -> LimitProbe { try LimitProbe(kernels, pool) }

    package var times: ComputeTimes {
        var times = rows.matmuls.times
        times.sampling = logits.seconds
        return times
    }

    package func copy(block: Int32, to other: Int32) -> Bool {
        let (from, to) = (rows.cache.block(block), rows.cache.block(other))
        // By all threads, as most of the time goes into memory that the system provides at first touch.
        pool.runPieces(to.count, unit: 1 << 16) { bytes in
            UnsafeMutableRawBufferPointer(rebasing: to[bytes]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: from[bytes]))
        }
        return true
    }

    package func forward(_ runs: [RowRun], use: (LogitPiece) throws -> Void) throws {
        moveWeights()
        guard let slots = rows.cache.slots else { return try rows.run(runs, through: network, use: use) }
        // Long runs are split, as rings take only so many rows at a time.
        var passes: [[RowRun]] = [[]]
        for run in runs {
            for (number, part) in run.parts(of: slots.rows(blockLength: KVCache.blockLength)).enumerated() {
                if number > 0 { passes.append([]) }
                passes[passes.count - 1].append(part)
            }
        }
        var done = 0
        for pass in passes {
            try rows.run(pass, through: network) { try use($0.moved(by: done)) }
            done += pass.reduce(0) { $0 + $1.logitRows }
        }
    }

    /// Begins after the first pass, which should not wait for it.
    private func moveWeights() {
        defer { hasStepped = true }
        guard hasStepped, let move else { return }
        move.advance(pool)
        if move.isDone { self.move = nil }
    }

    package func warmUp(lengths: [Int]) {
        hasStepped = true
        while move != nil { moveWeights() }
        rows.cache.touch(blocks.nextFree(lengths.reduce(0) { $0 + blocks.blocks(for: $1) }), pool)
    }
}
