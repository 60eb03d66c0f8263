import CPhiKernels
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
    public var kernels: String?
    /// Where packed weights are kept from one start to the next. Off unless a program asks for it: a
    /// library writes no files of its own accord.
    public var cache: WeightCacheLocation

    public init(
        threads: Int? = nil, kvBudget: Int? = nil, kvPrecision: KVPrecision = .int8, kernels: String? = nil,
        cache: WeightCacheLocation = .off
    ) {
        self.cache = cache
        self.threads = threads
        self.kvBudget = kvBudget
        self.kvPrecision = kvPrecision
        self.kernels = kernels
    }
}

/// A loaded Phi model: weights, KV cache and compute threads. Text goes in and out through `TextCodec`.
///
/// One caller at a time for `admit`, `release` and `step`; the results of a sequence do not depend on
/// the others in a step, the number of threads, or the kernels.
public final class PhiEngine: BatchModel, @unchecked Sendable {
    public let configuration: ModelConfiguration
    public let limits: ModelLimits
    public let kernels: Kernels
    public let threads: Int
    /// Nil if the folder has no tokenizer.
    public let codec: TextCodec?
    /// Why packed weights are not kept although `EngineOptions.cache` asked for it; nil if they are.
    /// Nothing but the next start is slower for it.
    public let cacheFault: String?
    /// Why there are fewer compute threads than `EngineOptions.threads` asked for; nil if there are not.
    public var threadFault: String? { pool.fault }

    private let transformer: Transformer
    let pool: ComputePool
    private let sampler: Sampler
    private var cache: KVCache
    private var sequences: [SequenceID: Sequence] = [:]
    private var nextID = 0
    private let samplingScratch = Buffer<Float>()
    private var samplingSeconds = 0.0
    private var move: WeightMove?
    private var hasStepped = false

    private struct Sequence {
        var lease: KVCache.Lease
        /// Positions whose keys and values are in the cache.
        var length: Int
        /// Positions there is room for.
        var room: Int
        var longRope: Bool
    }

    /// Loads the checkpoint in `folder` (MLX's quantized format, model_type phi3).
    /// - Throws: `ModelError` naming the file, tensor or key at fault.
    public init(folder: String, options: EngineOptions = EngineOptions()) throws {
        configuration = try ModelConfiguration(folder: folder)
        kernels = try options.kernels.map { try Kernels.named($0) } ?? Kernels.chosen()
        let store = try TensorStore(folder: folder)
        let threads = options.threads ?? Processors.count
        // Before anything large is read.
        let budget = try MemoryCheck(
            configuration, store, precision: options.kvPrecision, cache: options.cache, threads: threads
        ).budget(
            asked: options.kvBudget)
        codec = try TextCodec(folder: folder)
        cache = try KVCache(
            layers: configuration.layerCount, heads: configuration.keyValueHeadCount,
            headDimension: configuration.headDimension, precision: options.kvPrecision, budget: budget)
        guard cache.capacity > 0 else {
            throw ModelError(
                .resources,
                "a KV cache of \(budget) bytes is too small: \(KVCache.blockLength) tokens of this model "
                    + "need \(cache.blockBytes) bytes")
        }
        pool = ComputePool(threads: threads)
        self.threads = pool.threads
        let weights = try PhiWeights(store, configuration, cache: options.cache, pool: pool)
        cacheFault = weights.cacheFault
        move = weights.move
        transformer = Transformer(configuration, weights: weights, kernels: kernels, pool: pool)
        sampler = Sampler(kernels: kernels)
        limits = ModelLimits(
            contextLength: configuration.contextLength, vocabularySize: configuration.vocabularySize,
            endOfSequence: configuration.endOfSequence)
    }

    /// Multiply-adds of the weight matrices in one step: of `rows` rows, behind `wanted` of which a token is
    /// chosen.
    public func multiplyAdds(rows: Int, wanted: Int) -> Int {
        transformer.multiplyAdds(rows: rows, wanted: wanted)
    }
    /// Bytes of packed weights that one forward pass reads.
    public var weightBytes: Int { transformer.weightBytes }
    /// Bytes of KV cache that hold one token.
    public var kvBytesPerToken: Int { cache.blockBytes / KVCache.blockLength }

    public var times: ComputeTimes {
        var times = transformer.times
        times.sampling = samplingSeconds
        return times
    }

    public var hasTokenizer: Bool { codec != nil }

    /// Whether a sequence of this many tokens in all uses the long RoPE factors; nil if the model has
    /// one set only.
    public func usesLongRope(length: Int) -> Bool? {
        switch configuration.ropeScaling {
        case .none: nil
        case .longrope(let rope): length > rope.originalContextLength
        }
    }

    public func admit(prompt: [Int32], maxTokens: Int) throws -> Admission {
        try check(prompt)
        let room = prompt.count + max(0, maxTokens)
        guard room <= configuration.contextLength else {
            throw ModelError(
                .badRequest,
                "\(prompt.count) prompt tokens and \(maxTokens) more exceed the context of "
                    + "\(configuration.contextLength)")
        }
        let long = usesLongRope(length: room) ?? false
        switch cache.lease(prompt: prompt, count: room, ropeChoice: long ? 1 : 0) {
        case .later: return .later
        case .never(let blocks):
            throw ModelError(
                .resources,
                "\(room) tokens need \(blocks * cache.blockBytes) bytes of KV cache, more than its budget of "
                    + "\(cache.capacity * cache.blockBytes)")
        case .leased(let lease):
            let id = SequenceID(nextID)
            nextID += 1
            sequences[id] = Sequence(lease: lease, length: lease.cached, room: room, longRope: long)
            return .admitted(id, cached: lease.cached)
        }
    }

    private func check(_ prompt: [Int32]) throws {
        if prompt.isEmpty { throw ModelError(.badRequest, "the prompt has no tokens") }
        if let bad = prompt.first(where: { $0 < 0 || $0 >= configuration.vocabularySize }) {
            throw ModelError(
                .badRequest,
                "token id \(bad) is outside the vocabulary of \(configuration.vocabularySize) tokens")
        }
    }

    /// Which rotary factors were used, where the model has two sets.
    public func provenance(of sequence: SequenceID) -> [String: String] {
        guard case .longrope = configuration.ropeScaling, let found = sequences[sequence] else { return [:] }
        return ["rope": found.longRope ? "long" : "short"]
    }

    public func release(_ sequence: SequenceID) {
        guard let old = sequences.removeValue(forKey: sequence) else { return }
        cache.release(old.lease)
    }

    public func step(_ inputs: [StepInput]) throws -> [TokenChoice?] {
        var runs: [RowRun] = []
        runs.reserveCapacity(inputs.count)
        for input in inputs {
            guard let sequence = sequences[input.sequence] else {
                preconditionFailure("a step for a sequence that was not admitted or was released")
            }
            precondition(!input.tokens.isEmpty && sequence.length + input.tokens.count <= sequence.room)
            runs.append(
                RowRun(
                    tokens: input.tokens, start: sequence.length, blocks: sequence.lease.blocks,
                    longRope: sequence.longRope, logitRows: input.sampling == nil ? 0 : 1))
        }
        moveWeights()
        let logits = try transformer.forward(runs, cache: cache)
        for input in inputs {
            guard var sequence = sequences[input.sequence] else { continue }
            sequence.length += input.tokens.count
            cache.advance(&sequence.lease, to: sequence.length)
            sequences[input.sequence] = sequence
        }
        var clock = Stopwatch()
        defer { samplingSeconds += clock.lap() }
        return try choose(inputs, logits)
    }

    /// Behind the first step, which should not wait for it.
    private func moveWeights() {
        defer { hasStepped = true }
        guard hasStepped, let move else { return }
        move.advance(pool)
        if move.isDone { self.move = nil }
    }

    /// Does at once what the first steps do on their way: moves the weights to large pages, and touches the
    /// KV cache's memory for new sequences of these lengths. For measurements; nothing else needs it.
    public func warmUp(lengths: [Int]) {
        hasStepped = true
        while move != nil { moveWeights() }
        cache.touch(lengths.reduce(0) { $0 + KVCache.blocks(for: $1) }, pool)
    }

    private func choose(_ inputs: [StepInput], _ logits: UnsafeMutablePointer<Float>) throws -> [TokenChoice?]
    {
        let sampled = inputs.indices.filter { inputs[$0].sampling != nil }
        let count = configuration.vocabularySize
        let stride = transformer.logitsStride
        try samplingScratch.reserve(max(1, sampled.count) * stride)
        let scratch = samplingScratch.pointer
        var choices = [TokenChoice?](repeating: nil, count: inputs.count)
        choices.withUnsafeMutableBufferPointer { buffer in
            nonisolated(unsafe) let buffer = buffer
            pool.run(sampled.count) { number in
                guard let request = inputs[sampled[number]].sampling else { return }
                buffer[sampled[number]] = sampler.choose(
                    logits + number * stride, count: count, scratch: scratch + number * stride,
                    request: request)
            }
        }
        return choices
    }

    /// Runs `tokens` as a sequence of their own and hands out the last `logitRows` rows of logits and
    /// the distance between two of them.
    func scored<Tokens: Collection<Int32>, Result>(
        _ tokens: Tokens, logitRows: Int, _ body: (UnsafeMutablePointer<Float>, Int) throws -> Result
    ) throws -> Result {
        let tokens = Array(tokens)
        try check(tokens)
        let long = usesLongRope(length: tokens.count) ?? false
        // No prompt is named, so that nothing is shared: all rows are computed.
        guard case .leased(let lease) = cache.lease(prompt: [], count: tokens.count, ropeChoice: 0) else {
            throw ModelError(.resources, "the KV cache has no room for \(tokens.count) tokens")
        }
        defer { cache.release(lease) }
        let run = RowRun(
            tokens: tokens[...], start: 0, blocks: lease.blocks, longRope: long, logitRows: logitRows)
        return try body(try transformer.forward([run], cache: cache), transformer.logitsStride)
    }

    private func requireCodec() throws -> TextCodec {
        guard let codec else {
            throw ModelError(
                .badRequest, "this model folder has no tokenizer.json, so prompts must be lists of token ids")
        }
        return codec
    }

    public func tokens(for prompt: Prompt) throws -> [Int32] {
        if case .tokens(let ids) = prompt {
            try check(ids)
            return ids
        }
        return try requireCodec().tokens(for: prompt)
    }

    public func makeTextStream() -> any TextStream { codec?.makeTextStream() ?? SilentTextStream() }

    public func piece(of token: Int32) -> (text: String, bytes: [UInt8]) {
        codec?.piece(of: token) ?? ("", [])
    }
}

/// The text of a model without a tokenizer: none.
private struct SilentTextStream: TextStream {
    mutating func append(_ token: Int32) -> String { "" }
    mutating func finish() -> String { "" }
}
