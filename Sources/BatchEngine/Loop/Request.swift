/// A completion that is asked for. It gets its `RequestID` when a loop takes it.
package struct Request: Sendable {
    /// What an earlier run has made of a completion.
    package struct Saved: Sendable {
        package var tokens: [Int32]
        /// For each of `tokens` the source's note, if it makes any.
        package var notes: [String]

        package init(tokens: [Int32], notes: [String]) {
            self.tokens = tokens
            self.notes = notes
        }
    }

    package var prompt: [Int32]
    /// Tokens after the prompt of which the log-probabilities are wanted; if there are any, nothing is generated.
    package var scored: [Int32] = []
    /// Answers of which the log-probabilities are wanted, all of them; if there are any, nothing is generated.
    package var choices: ChoiceTree?
    /// At least 1, and within the model's context; of scored tokens their number.
    package var maxTokens: Int
    package var sampling: SamplingParameters
    /// What the completion must be like, before its first token.
    package var constraint: (any Constraint)?
    /// The key of its random stream.
    package var stream: UInt64
    /// Any of these ends the completion.
    package var endOfSequence: Set<Int32>
    package var stops: StopSet
    /// How its tokens become text, at the beginning of the completion.
    package var text: any TextStream
    package var saved: Saved?
    package var rope = RopeFactors.byLength
    /// What the source knows it by; the loop doesn't look at it.
    package var label: any Sendable

    package init(
        prompt: [Int32], maxTokens: Int, sampling: SamplingParameters,
        constraint: (any Constraint)? = nil, stream: UInt64,
        endOfSequence: Set<Int32>, stops: StopSet, text: any TextStream, saved: Saved? = nil,
        label: any Sendable = ()
    ) {
        self.prompt = prompt
        self.maxTokens = maxTokens
        self.sampling = sampling
        self.constraint = constraint
        self.stream = stream
        self.endOfSequence = endOfSequence
        self.stops = stops
        self.text = text
        self.saved = saved
        self.label = label
    }

    /// The log-probabilities of `scored` after `prompt`, which has a token at least.
    package init(prompt: [Int32], scored: [Int32], text: any TextStream, label: any Sendable = ()) {
        precondition(!prompt.isEmpty && !scored.isEmpty)
        self.init(
            prompt: prompt, maxTokens: scored.count, sampling: SamplingParameters(), stream: 0,
            endOfSequence: [],
            stops: .none, text: text, label: label)
        self.scored = scored
    }

    /// The log-probabilities of choices after `prompt`, which has a token at least.
    package init(
        prompt: [Int32], choices: ChoiceTree, sampling: SamplingParameters, stream: UInt64,
        text: any TextStream,
        label: any Sendable = ()
    ) {
        precondition(!prompt.isEmpty)
        self.init(
            prompt: prompt, maxTokens: choices.depth, sampling: sampling, stream: stream, endOfSequence: [],
            stops: .none, text: text, label: label)
        self.choices = choices
    }

    /// Tokens that prompt and completion may come to.
    var ceiling: Int { prompt.count + maxTokens }
}
