/// Rows of one sequence in a pass, and the questions about them.
package struct PassInput {
    package var cache: SequenceCache
    /// Tokens appended to the sequence: a chunk of its prompt, or the last sampled token and those that a constraint
    /// forces after it, then draft tokens.
    package var tokens: ArraySlice<Int32>
    /// Requests to sample after each of the last rows, the last of them after the last of `tokens`; none if empty. The
    /// `tokens` after the first of these rows are draft tokens: a choice counts only if all draft tokens before it were
    /// chosen.
    package var samplings: SmallArray<SamplingRequest>
    /// Tokens whose log-probabilities are wanted, at most as many as `tokens`: the last of them after the last of
    /// `tokens`, the one before it one row earlier, and so on.
    package var targets: ArraySlice<Int32>
    /// If not empty, the number of `targets` after each of the last rows, each 1 or more; the last of them after the
    /// last of `tokens`.
    package var targetCounts: [Int]
    /// Number of the likeliest tokens to report beside each of `targets`.
    package var alternatives = 0

    package init(
        _ cache: SequenceCache, _ tokens: ArraySlice<Int32>, sampling: SamplingRequest? = nil,
        targets: ArraySlice<Int32> = [], targetCounts: [Int] = []
    ) {
        self.cache = cache
        self.tokens = tokens
        samplings = SmallArray(sampling)
        self.targets = targets
        self.targetCounts = targetCounts
    }

    /// Request to sample after the tokens that are certain.
    package var sampling: SamplingRequest? { samplings.first }

    /// Number of draft tokens at the end of `tokens`.
    package var drafted: Int { max(0, samplings.count - 1) }

    /// Number of rows at the end that have targets.
    package var targetRows: Int { targetCounts.isEmpty ? targets.count : targetCounts.count }

    /// Returns the indices of a row's targets.
    /// - Parameter row: index among the rows that have targets; `start` targets come before it.
    package func targetRange(ofRow row: Int, from start: Int) -> Range<Int> {
        start..<start + (targetCounts.isEmpty ? 1 : targetCounts[row])
    }
}

/// Answer of a pass to one input.
package struct PassAnswer: Sendable, Equatable {
    /// The token sampled after the certain ones, and after each draft token that was chosen. Empty if nothing was
    /// sampled. The sequence keeps the certain tokens of the input and one draft token for each choice but the last.
    package var choices: SmallArray<SampledToken>
    /// Natural-log probability of each of `targets` under the model (at temperature 1, before any rule), as in
    /// `SampledToken.logprob`. NaN if a logit is infinite or NaN.
    package var logprobs: [Float]
    /// The likeliest tokens in the place of each of `targets`, if the input asks for them.
    package var alternatives: [[TokenLogprob]] = []

    package init(choice: SampledToken? = nil, logprobs: [Float] = []) {
        choices = SmallArray(choice)
        self.logprobs = logprobs
    }

    /// The first of `choices`.
    package var choice: SampledToken? { choices.first }

    /// Number of accepted draft tokens.
    var acceptedDrafts: Int { max(0, choices.count - 1) }

    /// Whether it answers exactly the questions of an input.
    func answers(_ input: PassInput) -> Bool {
        choices.isEmpty == input.samplings.isEmpty && choices.count <= input.samplings.count
            && logprobs.count == input.targets.count
    }

    /// Adds the choice after the next row if the draft tokens before it were chosen.
    /// - Parameter draft: the row's draft token; nil for the first row.
    package mutating func append(_ choice: SampledToken, after draft: Int32?, number: Int) {
        guard choices.count == number else { return }
        if let last = choices.last, last.fault != nil || last.token != draft { return }
        choices.append(choice)
    }
}
