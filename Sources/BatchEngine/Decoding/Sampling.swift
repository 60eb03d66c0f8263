/// Request to sample a completion token by token.
package struct Sampling: RequestKind {
    /// At least 1, and within the model's context.
    package var maxTokens: Int
    package var sampling: SamplingParameters
    /// Makes the constraint on the answer, for the tokens that are left; nil if there is none.
    package var form: (@Sendable (Int) -> any Constraint)?
    /// Identifies the constraint; nil if there is none.
    package var constraintID: [UInt8]?
    /// Reasoning to separate from the answer; nil if all is the answer.
    package var reasoning: ReasoningPlan?
    /// Key of the random stream.
    package var stream: UInt64
    /// Any of these ends the completion.
    package var endOfSequence: Set<Int32>
    package var stops: StopSet
    /// Beginning of tool calls, in which stop strings don't count; empty if there are none.
    package var stopsUntil = ""
    /// Decoder of tokens to text, before the first token.
    package var text: any TextStream
    /// Whether the prompt's tokens after the first are scored, too.
    package var scoresPrompt = false

    package init(
        maxTokens: Int, sampling: SamplingParameters, form: (@Sendable (Int) -> any Constraint)? = nil,
        constraintID: [UInt8]? = nil, reasoning: ReasoningPlan? = nil, stream: UInt64,
        endOfSequence: Set<Int32>, stops: StopSet, text: any TextStream
    ) {
        self.maxTokens = maxTokens
        self.sampling = sampling
        self.form = form
        self.constraintID = constraintID
        self.reasoning = reasoning
        self.stream = stream
        self.endOfSequence = endOfSequence
        self.stops = stops
        self.text = text
    }

    /// Constraint on the completion from its first token on.
    var firstConstraint: (any Constraint)? {
        guard let reasoning, reasoning.limit != nil || form != nil else { return form?(maxTokens) }
        return ReasoningConstraint(reasoning, maxTokens: maxTokens, text: text, form: form)
    }

    package var sampledTokens: Int { maxTokens }
    package var weight: Int { 0 }

    /// The request's settings cover sampling parameters and stop strings.
    package var content: Digest? {
        guard !scoresPrompt, form == nil || constraintID != nil else { return nil }
        var content = Digest("sampling")
        content.append(maxTokens)
        content.append(endOfSequence.sorted())
        content.append(constraintID == nil ? 0 : 1)
        content.append(constraintID ?? [])
        if let reasoning {
            content.append(reasoning.isOpen ? 1 : 0)
            content.append(reasoning.limit ?? -1)
            content.append(reasoning.closing)
        }
        if sampling.draws { content.append(stream: stream) }
        return content
    }

    package func decoding(after prompt: [Int32]) -> any Decoding { SamplingDecoding(self, after: prompt) }
    package func decoding(
        _ saved: SavedDecoding, after prompt: [Int32], vocabularySize: Int
    ) -> (any Decoding)? {
        SamplingDecoding(self, after: prompt).after(saved, vocabularySize: vocabularySize)
    }
}
