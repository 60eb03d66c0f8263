/// Saved decoding: part of a completion, which another run continues, or a whole one, which an equal request reuses
/// without a model. All other state (text, reasoning, constraint, stop strings) is computed from it.
package struct SavedDecoding: Sendable, Equatable {
    /// Sampled tokens, the source's note on each if it makes any, and the reason why they end; nil at a beginning.
    package var tokens: [Int32] = []
    package var notes: [String] = []
    package var finishReason: FinishReason?
    /// Log-probabilities, if nothing was sampled.
    package var logprobs: [Float] = []

    package init(
        tokens: [Int32] = [], notes: [String] = [], finishReason: FinishReason? = nil, logprobs: [Float] = []
    ) {
        (self.tokens, self.notes, self.finishReason) = (tokens, notes, finishReason)
        self.logprobs = logprobs
    }

    /// Returns the log-probabilities if they are so many, and nothing was sampled.
    func logprobs(count: Int) -> [Float]? {
        self == SavedDecoding(logprobs: logprobs) && logprobs.count == count ? logprobs : nil
    }
}
