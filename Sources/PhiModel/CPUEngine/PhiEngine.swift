import BatchEngine
import Foundation
import Foundations

/// How a model is loaded.
public struct EngineOptions: Sendable {
    /// Compute threads; nil takes one for each processor that this process may use.
    public var threads: Int?
    /// Bytes of KV cache; nil takes a quarter of the machine's memory, or less if less is free.
    public var kvBudget: Int?
    /// What the KV cache holds.
    public var kvPrecision: KVPrecision
    /// Which kernels (see `Kernels`); nil takes `PHIBATCH_KERNELS` or the best.
    package var kernels: String?
    /// Where packed weights are kept from one start to the next. Off unless a program asks for it: a
    /// library writes no files of its own accord.
    public var cache: WeightCacheLocation
    /// Whether keys and values of beginnings that many prompts share are kept in `cache`, too, if there is one.
    public var keepsPrefixes = true
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

    package init(
        threads: Int? = nil, kvBudget: Int? = nil, kvPrecision: KVPrecision = .int8, kernels: String?,
        cache: WeightCacheLocation = .off
    ) {
        self.init(threads: threads, kvBudget: kvBudget, kvPrecision: kvPrecision, cache: cache)
        self.kernels = kernels
    }
}

/// A loaded Phi model: weights, KV cache and compute threads. Text goes in and out through `text`.
///
/// One caller at a time, as `Engine` says; the results of a sequence do not depend on the others in a step,
/// the number of threads, or the kernels.
package final class PhiEngine: Engine, @unchecked Sendable {
    package let shape: ModelShape
    package let limits: ModelLimits
    package let kernels: Kernels
    package let threads: Int
    /// Nil if the folder has no tokenizer.
    package let codec: TextCodec?
    /// Why packed weights are not kept although `EngineOptions.cache` asked for it; nil if they are.
    /// Nothing but the next start is slower for it.
    package let cacheFault: String?
    /// What a person may want to know of how the model was loaded, a sentence each: that an index was passed
    /// over, or old files removed from the cache.
    package let notes: [String]
    /// How the model could take less memory; nil if it is quantized.
    package let advice: String?
    /// Why there are fewer compute threads than `EngineOptions.threads` asked for; nil if there are not.
    package var threadFault: String? { pool.fault }

    private let network: any Network
    let rows: RowOps
    let pool: ComputePool
    private let logits: LogitReader
    var blocks: KVBlocks
    /// Nil if none are kept.
    let prefixes: PrefixStore?
    private var sequences: [RequestID: Sequence] = [:]
    /// Sequences begun without a loop.
    var directCount = 0
    private var move: WeightMove?
    private var hasStepped = false

    /// What the cache holds of a sequence.
    private struct Sequence {
        var lease: KVBlocks.Lease
        /// Positions whose keys and values are in the cache.
        var length: Int
        /// Tokens it began with.
        var begun: Int
        /// Tokens it may come to.
        var ceiling: Int
        var longRope: Bool

        /// The RoPE factors are in the keys.
        var branch: Int { longRope ? 1 : 0 }
    }

    /// Loads the model in `folder`: MLX's quantized format, of one of the `Architectures`.
    /// - Throws: `ModelError` naming the file, tensor or key at fault.
    package init(folder: String, options: EngineOptions = EngineOptions()) throws {
        let sources = PrefixSources(folder: folder, adapter: options.adapter)
        let model = try Architectures.read(folder: folder)
        shape = model.shape
        kernels = try options.kernels.map { try Kernels.named($0) } ?? Kernels.chosen()
        let store = try TensorStore(folder: folder)
        let threads = options.threads ?? Processors.count
        // Before anything large is read.
        let budget = try MemoryCheck(
            model, store, precision: options.kvPrecision, cache: options.cache, threads: threads
        ).budget(
            asked: options.kvBudget)
        codec = try TextCodec(folder: folder)
        let cache = try KVCache(
            layers: shape.layerCount, heads: shape.attention.keyValueHeadCount,
            headDimension: shape.attention.headDimension, precision: options.kvPrecision, budget: budget)
        guard cache.capacity > 0 else {
            throw ModelError(
                .resources,
                "a KV cache of \(budget) bytes is too small: \(KVCache.blockLength) tokens of this model "
                    + "need \(cache.blockBytes) bytes")
        }
        blocks = KVBlocks(capacity: cache.capacity, blockLength: KVCache.blockLength)
        prefixes = sources.store(options, store, blockBytes: cache.blockBytes, threads: threads)
        pool = ComputePool(threads: threads)
        self.threads = pool.threads
        let adapter = try options.adapter.map { try Adapter(folder: $0) }
        var reader = WeightReader(store, quantization: shape.quantization, adapter: adapter)
        network = try model.network(&reader)
        try adapter?.checkUse(of: reader.adapted)
        let weights = try PackedWeights(reader.plan, from: store, cache: options.cache, pool: pool)
        weightBytes = try reader.multiplied.reduce(0) { try $0 + weights[$1].bytes }
        cacheFault = weights.cacheFault
        notes = store.notes + weights.notes
        advice = Quantizer.advice(reader.plan, store)
        move = weights.move
        rows = RowOps(shape, weights: weights, cache: cache, kernels: kernels, pool: pool)
        logits = LogitReader(Sampler(kernels: kernels), pool)
        limits = ModelLimits(shape, codec)
    }

    /// Multiply-adds of the weight matrices in all steps so far.
    package var multiplyAdds: Int { rows.tally.multiplyAdds }
    /// Bytes of packed weights that matmuls have read in all steps so far.
    package var weightBytesRead: Int { rows.tally.weightBytes }
    /// Bytes of packed weights that one forward pass reads; where there are experts, at most.
    package let weightBytes: Int
    /// Bytes of KV cache that hold one token.
    package var kvBytesPerToken: Int { rows.cache.blockBytes / KVCache.blockLength }

    package var times: ComputeTimes {
        var times = rows.tally.times
        times.sampling = logits.seconds
        return times
    }

    package var identity: [(name: String, value: String)] {
        Self.identity(EngineOptions(kvPrecision: rows.cache.precision))
    }

    /// How its text becomes tokens.
    package var text: any TextCoding { codec ?? NoText() }

    /// Whether a sequence of this many tokens in all uses the long RoPE factors; nil if the model has
    /// one set only.
    package func usesLongRope(length: Int) -> Bool? { shape.rope.usesLongFactors(length: length) }

    package func admit(
        _ id: RequestID, tokens: [Int32], ceiling: Int, lookahead: Int, cacheable: Int
    ) -> Admission {
        do { try check(tokens) } catch { return .never(Refusal(.invalid, error.message)) }
        guard ceiling <= shape.contextLength else {
            return .never(
                Refusal(
                    .invalid,
                    "prompt and completion of \(ceiling) tokens together exceed the context of "
                        + "\(shape.contextLength)"))
        }
        guard blocks.blocks(for: ceiling) <= blocks.capacity else {
            return .never(
                Refusal(
                    .tooLarge,
                    "\(ceiling) tokens need \(blocks.blocks(for: ceiling) * rows.cache.blockBytes) bytes of KV "
                        + "cache, more than its budget of \(rows.cache.capacity * rows.cache.blockBytes)"))
        }
        // Once a request, from all it may come to: the same however it is cut, saved or computed again.
        let long = usesLongRope(length: ceiling) ?? false
        let own =
            blocks.blocks(for: min(ceiling, tokens.count + lookahead)) - blocks.blocks(for: tokens.count)
        let spared = sequences.values.reduce(own) { $0 + growth($1, by: lookahead) }
        restorePrefix(of: tokens, branch: long ? 1 : 0, cacheable: cacheable)
        switch blocks.lease(tokens, branch: long ? 1 : 0, sparing: spared, cacheable: cacheable) {
        case .wait(let shortage): return .wait(shortage)
        case .leased(let lease):
            sequences[id] = Sequence(
                lease: lease, length: lease.cached, begun: tokens.count, ceiling: ceiling, longRope: long)
            return .ready(cached: lease.cached, room: room(lease))
        }
    }

    /// Blocks that a sequence needs for so many tokens more, as far as its ceiling goes.
    private func growth(_ sequence: Sequence, by lookahead: Int) -> Int {
        let count = min(sequence.ceiling, max(sequence.length, sequence.begun) + lookahead)
        return max(0, blocks.blocks(for: count) - sequence.lease.blocks.count)
    }

    private func room(_ lease: KVBlocks.Lease) -> Int { lease.blocks.count * KVCache.blockLength }

    package func extend(_ id: RequestID, to length: Int) -> Int? {
        guard var sequence = sequences[id], blocks.extend(&sequence.lease, to: length) else { return nil }
        sequences[id] = sequence
        return room(sequence.lease)
    }

    package func release(_ id: RequestID) {
        guard let old = sequences.removeValue(forKey: id) else { return }
        blocks.release(old.lease)
    }

    package func preempt(_ id: RequestID, tokens: [Int32]) {
        guard let old = sequences.removeValue(forKey: id) else { return }
        blocks.release(old.lease, keeping: tokens.prefix(old.length), branch: old.branch)
    }

    private func check(_ tokens: [Int32]) throws(ModelError) {
        if tokens.isEmpty { throw ModelError(.badRequest, "the prompt has no tokens") }
        if let bad = tokens.first(where: { $0 < 0 || $0 >= shape.vocabularySize }) {
            throw ModelError(
                .badRequest,
                "there is no token id \(bad): the model's ids are 0 to \(shape.vocabularySize - 1)")
        }
    }

    /// Which rotary factors were used, where the model has two sets.
    package func provenance(of id: RequestID) -> [String: String] {
        guard case .longrope = shape.rope.scaling, let found = sequences[id] else { return [:] }
        return ["rope": found.longRope ? "long" : "short"]
    }

    package func step(_ inputs: [StepInput]) throws -> [StepAnswer] {
        var runs: [RowRun] = []
        runs.reserveCapacity(inputs.count)
        for input in inputs {
            guard var sequence = sequences[input.sequence] else {
                preconditionFailure("a step for a sequence that was not admitted or was released")
            }
            if let start = input.start {
                precondition(start <= sequence.length)
                sequence.length = start
                sequences[input.sequence] = sequence
            }
            precondition(
                !input.tokens.isEmpty && sequence.length + input.tokens.count <= room(sequence.lease))
            precondition(
                (input.tokens + input.targets).allSatisfy { $0 >= 0 && $0 < shape.vocabularySize })
            runs.append(
                RowRun(
                    tokens: input.tokens, start: sequence.length, blocks: sequence.lease.blocks,
                    longRope: sequence.longRope, logitRows: input.logitRows))
        }
        moveWeights()
        logits.begin(inputs)
        try rows.run(runs, through: network, use: logits.read)
        for (input, answer) in zip(inputs, logits.answers) {
            guard var sequence = sequences[input.sequence] else { continue }
            // Guesses that were wrong are written over.
            sequence.length += input.tokens.count - (input.samplings.count - answer.choices.count)
            blocks.advance(&sequence.lease, to: sequence.length)
            sequences[input.sequence] = sequence
        }
        return logits.answers
    }

    /// After the first step, which should not wait for it.
    private func moveWeights() {
        defer { hasStepped = true }
        guard hasStepped, let move else { return }
        move.advance(pool)
        if move.isDone { self.move = nil }
    }

    /// Does at once what the first steps do on their way: moves the weights to large pages, and touches the
    /// KV cache's memory for new sequences of these lengths. For measurements; nothing else needs it.
    package func warmUp(lengths: [Int]) {
        hasStepped = true
        while move != nil { moveWeights() }
        rows.cache.touch(blocks.nextFree(lengths.reduce(0) { $0 + blocks.blocks(for: $1) }), pool)
    }

    /// Runs `tokens` as a sequence of their own, and hands out the last `logitRows` rows of logits in pieces.
    func scored(
        _ tokens: some Collection<Int32>, logitRows: Int,
        _ use: (LogitPiece) throws(ModelError) -> Void
    ) throws {
        let tokens = Array(tokens)
        try check(tokens)
        let long = usesLongRope(length: tokens.count) ?? false
        // No tokens are named, so that nothing is shared: all rows are computed.
        guard case .leased(var lease) = blocks.lease([]), blocks.extend(&lease, to: tokens.count) else {
            throw ModelError(.resources, "the KV cache has no room for \(tokens.count) tokens")
        }
        defer { blocks.release(lease) }
        let run = RowRun(
            tokens: tokens[...], start: 0, blocks: lease.blocks, longRope: long, logitRows: logitRows)
        try rows.run([run], through: network, use: use)
    }
}
