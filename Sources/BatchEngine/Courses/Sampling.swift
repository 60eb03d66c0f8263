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

    package var content: AnyHashable? {
        guard !sampling.draws else { return nil }
        return Content(maxTokens: maxTokens, sampling: sampling, stops: stops, constraintID: constraintID)
    }

    private struct Content: Hashable {
        let maxTokens: Int
        let sampling: SamplingParameters
        let stops: StopSet
        let constraintID: [UInt8]?

        /// The limit alone counts: the rest is hardly ever all that differs.
        func hash(into hasher: inout Hasher) { hasher.combine(maxTokens) }
    }

    /// Saved tokens that can't be ours are left out: they come from a file.
    package func course(after prompt: [Int32], vocabularySize: Int) -> any Course {
        let fresh = SamplingCourse(self, after: prompt)
        return fresh.resumed(vocabularySize: vocabularySize) ?? fresh
    }
}

extension SamplingParameters {
    /// Whether another random stream could make another completion.
    package var draws: Bool { temperature > 0 && topK != 1 }
}
