/// Outcome of a decoding, kept so that an equal request can have it without a model.
package struct DecodingOutcome: Sendable, Equatable {
    /// Sampled tokens, the source's note on each if it makes any, and the reason why they end.
    package var tokens: [Int32] = []
    package var notes: [String] = []
    package var finishReason: FinishReason?
    /// Log-probabilities, if nothing was sampled.
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
