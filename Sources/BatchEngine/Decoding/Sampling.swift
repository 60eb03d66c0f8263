/// A completion is sampled, token by token.
package struct Sampling: RequestKind {
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

    /// At least 1, and within the model's context.
    package var maxTokens: Int
    package var sampling: SamplingParameters
    /// What the completion must be like, before its first token.
    package var constraint: (any Constraint)?
    /// What tells the constraint from others; nil where there is none.
    package var constraintID: [UInt8]?
    /// The reasoning before it, which is told from the answer; nil where all is the answer.
    package var reasoning: ReasoningPlan?
    /// What the answer must be like after reasoning, by the tokens that are left for it; in place of `constraint`.
    package var formAfterReasoning: (@Sendable (Int) -> any Constraint)?
    /// The key of its random stream.
    package var stream: UInt64
    /// Any of these ends the completion.
    package var endOfSequence: Set<Int32>
    package var stops: StopSet
    /// What begins calls, in which nothing stops it; empty where there are none.
    package var stopsUntil = ""
    /// How its tokens become text, at the beginning of the completion.
    package var text: any TextStream
    package var saved: Saved?
    /// The prompt's tokens but the first are scored, too.
    package var scoresPrompt = false

    package init(
        maxTokens: Int, sampling: SamplingParameters, constraint: (any Constraint)? = nil,
        constraintID: [UInt8]? = nil, reasoning: ReasoningPlan? = nil,
        formAfterReasoning: (@Sendable (Int) -> any Constraint)? = nil, stream: UInt64,
        endOfSequence: Set<Int32>, stops: StopSet, text: any TextStream, saved: Saved? = nil
    ) {
        self.maxTokens = maxTokens
        self.sampling = sampling
        self.constraint = constraint
        self.constraintID = constraintID
        self.reasoning = reasoning
        self.formAfterReasoning = formAfterReasoning
        self.stream = stream
        self.endOfSequence = endOfSequence
        self.stops = stops
        self.text = text
        self.saved = saved
    }

    /// What the completion must be like from its first token on.
    var firstConstraint: (any Constraint)? {
        guard let reasoning, reasoning.limit != nil || formAfterReasoning != nil else { return constraint }
        return ReasoningConstraint(reasoning, maxTokens: maxTokens, text: text, form: formAfterReasoning)
    }

    package var sampledTokens: Int { maxTokens }
    package var savedCount: Int { saved?.tokens.count ?? 0 }
    package var weight: Int { 0 }

    /// How tokens are chosen, and which texts end them, the request's settings say.
    package var content: RequestContent? {
        guard !scoresPrompt, constraint == nil && formAfterReasoning == nil || constraintID != nil else {
            return nil
        }
        var content = RequestContent("sampling")
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

    /// Saved tokens that can't be ours are left out: they come from a file.
    package func decoding(after prompt: [Int32], vocabularySize: Int) -> any Decoding {
        let fresh = SamplingDecoding(self, after: prompt)
        return fresh.resumed(vocabularySize: vocabularySize) ?? fresh
    }

    package func decoding(
        _ outcome: DecodingOutcome, after prompt: [Int32], vocabularySize: Int
    ) -> (any Decoding)? {
        SamplingDecoding(self, after: prompt).finished(outcome, vocabularySize: vocabularySize)
    }
}

extension SamplingParameters {
    /// Whether another random stream could make another completion.
    package var draws: Bool { temperature > 0 && topK != 1 }
}
