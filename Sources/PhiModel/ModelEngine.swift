import BatchEngine
import OperatingSystem

/// An engine with a loaded model: rows in, logits out. Admission, blocks of the cache and sampling are implemented here.
package protocol ModelEngine: Engine {
    /// Blocks of the cache, which sequences hold.
    var blocks: KVBlocks { get set }
    /// Makes answers from logits.
    var logits: LogitReader { get }

    /// Computes rows, and writes what later rows need to the sequences' blocks.
    /// - Parameters:
    ///   - runs: each of another sequence, in the order that `order` gives.
    ///   - use: receives the rows of logits that are needed, some at a time, in the order of the runs.
    func forward(_ runs: [RowRun], use: (LogitPiece) throws -> Void) throws
    /// Returns an efficient order to compute runs in, as indices. By default, the given one.
    func order(_ runs: [RowRun]) -> [Int]
    /// Copies a block.
    /// - Returns: false if the engine can't, the default.
    func copy(block: Int32, to other: Int32) -> Bool

    /// Nil if the folder has no tokenizer.
    var codec: TextCodec? { get }
    /// Number of compute threads.
    var threads: Int { get }
    /// Notes on the loading for a person, a sentence each: that an index was ignored, or old files removed from the
    /// cache.
    var notes: [String] { get }
    /// Ways to be faster or smaller, and reasons for deviations from the options; a sentence each.
    var advice: [String] { get }

    // Figures for `bench` and `perplexity`.

    /// Name of the code that computes.
    var kernelName: String { get }
    /// Bytes of weights read by one forward pass; with experts, the most.
    var weightBytes: Int { get }
    /// Does in advance what the first steps would do, and touches the KV cache's memory for new sequences of these
    /// lengths. Does nothing by default.
    func warmUp(lengths: [Int])
    /// Creates a probe of the processor; by default with its own threads.
    func makeProbe() throws -> LimitProbe
}

extension ModelEngine {
    package func order(_ runs: [RowRun]) -> [Int] { Array(runs.indices) }
    package func copy(block: Int32, to other: Int32) -> Bool { false }

    package func forward(_ inputs: [PassInput]) throws -> [PassAnswer] {
        let runs = blocks.begin(inputs)
        let order = order(runs)
        let isAsTheyCome = order.elementsEqual(inputs.indices)
        logits.begin(isAsTheyCome ? inputs : order.map { inputs[$0] })
        try forward(isAsTheyCome ? runs : order.map { runs[$0] }) { logits.read($0) }
        defer { logits.end() }
        var answers = logits.answers
        if !isAsTheyCome { for (place, answer) in zip(order, logits.answers) { answers[place] = answer } }
        blocks.finish(inputs, answers)
        return answers
    }

    package var sharesBeginnings: Bool { blocks.sharesBeginnings }
    package func admit(
        _ cache: SequenceCache, tokens: [Int32], lookahead: Int, cacheable: Int,
        beside others: [SequenceCache]
    ) -> Admission {
        blocks.admit(cache, tokens: tokens, lookahead: lookahead, cacheable: cacheable, beside: others)
    }
    package func copyBeginning(_ count: Int, of other: SequenceCache, to cache: SequenceCache) {
        blocks.copyBeginning(count, of: other, to: cache) { copy(block: $0, to: $1) }
    }
    package func extend(_ cache: SequenceCache, to length: Int) -> Bool { blocks.extend(cache, to: length) }
    package func release(_ cache: SequenceCache, keeping tokens: [Int32]?) {
        blocks.release(cache, keeping: tokens ?? [])
    }
    package func provenance(of cache: SequenceCache) -> [String: String] { blocks.provenance(of: cache) }

    /// Converter of its text to tokens.
    package var text: any TextCoding { codec ?? NoText() }
    package func warmUp(lengths: [Int]) {}
    package func makeProbe() throws -> LimitProbe {
        try LimitProbe(Kernels.chosen(), ComputePool(threads: threads))
    }
    /// Bytes of KV cache that hold one token.
    package var kvBytesPerToken: Int { blocks.blockBytes / blocks.blockLength }
}
