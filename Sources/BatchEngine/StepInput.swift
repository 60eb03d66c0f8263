/// The rows that one sequence brings into a step, and what is asked about them.
package struct StepInput: Sendable {
    package var sequence: RequestID
    /// Tokens appended to the sequence: a chunk of its prompt, or the token chosen last and those that a
    /// constraint makes certain after it.
    package var tokens: ArraySlice<Int32>
    /// If set, a token is chosen from the logits after the last of `tokens`.
    package var sampling: SamplingRequest?
    /// If set, the sequence goes back to so many tokens before `tokens` come: no fewer than the prompt's, whose cache
    /// others may share, and no more than it has.
    package var start: Int?
    /// Tokens of which the log-probabilities are asked for: the last of them after the last of `tokens`, the one
    /// before it after the one before that, and so on. No more than there are `tokens`.
    package var targets: ArraySlice<Int32>
    /// If not empty, so many of `targets` are asked for after each of as many rows, the last of them after the last of
    /// `tokens`; each 1 or more.
    package var targetCounts: [Int]

    package init(
        sequence: RequestID, tokens: ArraySlice<Int32>, sampling: SamplingRequest? = nil, start: Int? = nil,
        targets: ArraySlice<Int32> = [], targetCounts: [Int] = []
    ) {
        self.sequence = sequence
        self.tokens = tokens
        self.sampling = sampling
        self.start = start
        self.targets = targets
        self.targetCounts = targetCounts
    }

    /// How many rows at the end have targets.
    package var targetRows: Int { targetCounts.isEmpty ? targets.count : targetCounts.count }

    /// The targets after a row, as a range from 0.
    /// - Parameter row: of those that have targets, from 0, after `start` targets.
    package func targetRange(ofRow row: Int, from start: Int) -> Range<Int> {
        start..<start + (targetCounts.isEmpty ? 1 : targetCounts[row])
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
