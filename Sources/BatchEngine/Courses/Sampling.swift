/// A completion is sampled, token by token.
package struct Sampling: Goal {
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
    /// The key of its random stream.
    package var stream: UInt64
    /// Any of these ends the completion.
    package var endOfSequence: Set<Int32>
    package var stops: StopSet
    /// How its tokens become text, at the beginning of the completion.
    package var text: any TextStream
    package var saved: Saved?

    package init(
        maxTokens: Int, sampling: SamplingParameters, constraint: (any Constraint)? = nil,
        constraintID: [UInt8]? = nil, stream: UInt64, endOfSequence: Set<Int32>, stops: StopSet,
        text: any TextStream, saved: Saved? = nil
    ) {
        self.maxTokens = maxTokens
        self.sampling = sampling
        self.constraint = constraint
        self.constraintID = constraintID
        self.stream = stream
        self.endOfSequence = endOfSequence
        self.stops = stops
        self.text = text
        self.saved = saved
    }

    package var sampledTokens: Int { maxTokens }
    package var savedCount: Int { saved?.tokens.count ?? 0 }
    package var weight: Int { 0 }

    /// How tokens are chosen, and which texts end them, the request's settings say.
    package var content: GoalContent? {
        guard constraint == nil || constraintID != nil else { return nil }
        var content = GoalContent("sampling")
        content.append(maxTokens)
        content.append(endOfSequence.sorted())
        content.append(constraintID == nil ? 0 : 1)
        content.append(constraintID ?? [])
        if sampling.draws { content.append(stream: stream) }
        return content
    }

    /// Saved tokens that can't be ours are left out: they come from a file.
    package func course(after prompt: [Int32], vocabularySize: Int) -> any Course {
        let fresh = SamplingCourse(self, after: prompt)
        return fresh.resumed(vocabularySize: vocabularySize) ?? fresh
    }

    package func course(
        _ outcome: CourseOutcome, after prompt: [Int32], vocabularySize: Int
    ) -> (any Course)? {
        SamplingCourse(self, after: prompt).finished(outcome, vocabularySize: vocabularySize)
    }
}

extension SamplingParameters {
    /// Whether another random stream could make another completion.
    package var draws: Bool { temperature > 0 && topK != 1 }
}
