import BatchEngine
import OperatingSystem

/// An engine with a loaded model.
package protocol ModelEngine: RowEngine {
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
    /// Work of all steps so far; nil if it isn't counted.
    var work: StepWork? { get }
    /// Does in advance what the first steps would do, and touches the KV cache's memory for new sequences of these
    /// lengths. Does nothing by default.
    func warmUp(lengths: [Int])
    /// Creates a probe of the processor; by default with its own threads.
    func makeProbe() throws -> LimitProbe
}

/// Work of steps.
package struct StepWork: Sendable {
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
    package var work: StepWork? { nil }
    package func warmUp(lengths: [Int]) {}
    package func makeProbe() throws -> LimitProbe {
        try LimitProbe(kernels: Kernels.chosen(), threads: threads)
    }
    /// Bytes of KV cache that hold one token.
    package var kvBytesPerToken: Int { sequences.blockBytes / sequences.blocks.blockLength }
}
