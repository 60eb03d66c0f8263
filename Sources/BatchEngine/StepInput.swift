/// The rows that one sequence brings into a step, and what is asked about them.
package struct StepInput: Sendable {
    package var sequence: RequestID
    /// Tokens appended to the sequence: a chunk of its prompt, or the token chosen last and those that a
    /// constraint makes certain after it; and then those that are guessed.
    package var tokens: ArraySlice<Int32>
    /// How a token is chosen after each of as many rows, the last of them after the last of `tokens`; if empty, none
    /// is. The `tokens` after the first of these rows are guesses: a choice counts only if the guesses before it are
    /// the tokens that were chosen there.
    package var samplings: SmallArray<SamplingRequest>
    /// If set, the sequence goes back to so many tokens before `tokens` come: no fewer than the prompt's, whose cache
    /// others may share, and no more than it has.
    package var start: Int?
    /// Tokens of which the log-probabilities are asked for: the last of them after the last of `tokens`, the one
    /// before it after the one before that, and so on. No more than there are `tokens`.
    package var targets: ArraySlice<Int32>
    /// If not empty, so many of `targets` are asked for after each of as many rows, the last of them after the last of
    /// `tokens`; each 1 or more.
    package var targetCounts: [Int]
    /// Number of the likeliest tokens that are asked for beside each of `targets`.
    package var alternatives = 0

    package init(
        sequence: RequestID, tokens: ArraySlice<Int32>, sampling: SamplingRequest? = nil, start: Int? = nil,
        targets: ArraySlice<Int32> = [], targetCounts: [Int] = []
    ) {
        self.sequence = sequence
        self.tokens = tokens
        samplings = SmallArray(sampling)
        self.start = start
        self.targets = targets
        self.targetCounts = targetCounts
    }

    /// How a token is chosen after those that are certain.
    package var sampling: SamplingRequest? { samplings.first }

    /// How many of `tokens`, at their end, are guesses.
    package var guessed: Int { max(0, samplings.count - 1) }

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
    /// The token chosen after those that are certain, and as long as it is the one that was guessed, the one after
    /// that. None where no token was to be chosen. Of the input's tokens the sequence keeps those that are certain, and
    /// one for each choice but the last; the others were wrong guesses.
    package var choices: SmallArray<SampledToken>
    /// For each of the input's `targets` its natural-log probability under the model (at temperature 1, before any
    /// rule): the number that `TokenChoice.logprob` has for a token chosen there. NaN where a logit is infinite or
    /// NaN.
    package var logprobs: [Float]
    /// For each of `targets` the likeliest tokens in its place, where the input asks for some.
    package var alternatives: [[TokenLogprob]] = []

    package init(choice: SampledToken? = nil, logprobs: [Float] = []) {
        choices = SmallArray(choice)
        self.logprobs = logprobs
    }

    /// The first of `choices`.
    package var choice: SampledToken? { choices.first }

    /// How many guesses held.
    var rightGuesses: Int { max(0, choices.count - 1) }

    /// Whether it says what an input asks, and no more.
    func answers(_ input: StepInput) -> Bool {
        choices.isEmpty == input.samplings.isEmpty && choices.count <= input.samplings.count
            && logprobs.count == input.targets.count
    }

    /// Takes the choice after the next row if it counts.
    /// - Parameter guess: the token of that row; nil for the first one.
    package mutating func append(_ choice: SampledToken, after guess: Int32?, number: Int) {
        guard choices.count == number else { return }
        if let last = choices.last, last.fault != nil || last.token != guess { return }
        choices.append(choice)
    }
}
