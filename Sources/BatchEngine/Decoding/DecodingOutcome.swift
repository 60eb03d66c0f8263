/// What is kept of a decoding that has come to its end, so that the same outcome can be had again without a model.
package struct DecodingOutcome: Sendable, Equatable {
    /// The sampled tokens, with what the source keeps beside each, if anything, and why they end.
    package var tokens: [Int32] = []
    package var notes: [String] = []
    package var finishReason: FinishReason?
    /// Log-probabilities of what was asked about, where nothing was sampled.
    package var logprobs: [Float] = []

    package init(
        tokens: [Int32] = [], notes: [String] = [], finishReason: FinishReason? = nil, logprobs: [Float] = []
    ) {
        self.tokens = tokens
        self.notes = notes
        self.finishReason = finishReason
        self.logprobs = logprobs
    }
}
