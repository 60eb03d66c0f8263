/// The rows that one sequence brings into a step, and what is asked about them.
package struct StepInput: Sendable {
    package var sequence: RequestID
    /// Tokens appended to the sequence: a chunk of its prompt, or the token chosen last and those that a
    /// constraint makes certain after it.
    package var tokens: ArraySlice<Int32>
    /// If set, a token is chosen from the logits after the last of `tokens`.
    package var sampling: SamplingRequest?
    /// Tokens of which the log-probabilities are asked for: the last of them after the last of `tokens`, the one
    /// before it after the one before that, and so on. No more than there are `tokens`.
    package var targets: ArraySlice<Int32>

    package init(
        sequence: RequestID, tokens: ArraySlice<Int32>, sampling: SamplingRequest? = nil,
        targets: ArraySlice<Int32> = []
    ) {
        self.sequence = sequence
        self.tokens = tokens
        self.sampling = sampling
        self.targets = targets
    }
}

/// What a step says to one input.
package struct StepAnswer: Sendable, Equatable {
    /// Nil where no token was to be chosen.
    package var choice: TokenChoice?
    /// For each of the input's `targets` its natural-log probability under the model (at temperature 1, before any
    /// rule): the number that `TokenChoice.logprob` has for a token chosen there. NaN where a logit is infinite or
    /// NaN.
    package var logprobs: [Float]

    package init(choice: TokenChoice? = nil, logprobs: [Float] = []) {
        self.choice = choice
        self.logprobs = logprobs
    }
}
