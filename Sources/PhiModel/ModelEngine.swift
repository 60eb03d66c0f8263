import BatchEngine
import OperatingSystem

/// An engine with a model in it.
package protocol ModelEngine: RowEngine {
    /// Nil if the folder has no tokenizer.
    var codec: TextCodec? { get }
    /// Threads that compute.
    var threads: Int { get }
    /// Notes on the loading for a person, a sentence each: that an index was passed
    /// over, or old files removed from the cache.
    var notes: [String] { get }
    /// Ways to be faster or smaller, and reasons why it is not what was asked for; a sentence each.
    var advice: [String] { get }

    // What `bench` and `perplexity` tell.

    /// The name of the code that computes.
    var kernelName: String { get }
    /// Bytes of weights that one forward pass reads; where there are experts, at most.
    var weightBytes: Int { get }
    /// Work of all steps so far; nil if nobody counts.
    var work: EngineWork? { get }
    /// Does at once what the first steps do on their way, and touches the KV cache's memory for new sequences of these
    /// lengths. The default does nothing.
    func warmUp(lengths: [Int])
    /// Measures the processor; the default is with threads of its own.
    func makeProbe() throws -> LimitProbe
}

/// Work of steps.
package struct EngineWork: Sendable {
    /// Multiply-adds of the weight matrices.
    package var multiplyAdds = 0
    /// Bytes of weights that matmuls have read.
    package var weightBytes = 0

    package static func - (all: Self, some: Self) -> Self {
        Self(
            multiplyAdds: all.multiplyAdds - some.multiplyAdds,
            weightBytes: all.weightBytes - some.weightBytes)
    }
}

extension ModelEngine {
    /// Converter of its text to tokens.
    package var text: any TextCoding { codec ?? NoText() }
    package var work: EngineWork? { nil }
    package func warmUp(lengths: [Int]) {}
    package func makeProbe() throws -> LimitProbe {
        try LimitProbe(kernels: Kernels.chosen(), threads: threads)
    }
    /// Bytes of KV cache that hold one token.
    package var kvBytesPerToken: Int { sequences.blockBytes / sequences.blocks.blockLength }
}
