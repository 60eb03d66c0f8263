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
    /// The thought before it, which is told from the answer; nil where all is the answer.
    package var thought: Thought?
    /// What the answer must be like after a thought, by the tokens that are left for it; in place of `constraint`.
    package var formAfterThought: (@Sendable (Int) -> any Constraint)?
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
        constraintID: [UInt8]? = nil, thought: Thought? = nil,
        formAfterThought: (@Sendable (Int) -> any Constraint)? = nil, stream: UInt64,
        endOfSequence: Set<Int32>, stops: StopSet, text: any TextStream, saved: Saved? = nil
    ) {
        self.maxTokens = maxTokens
        self.sampling = sampling
        self.constraint = constraint
        self.constraintID = constraintID
        self.thought = thought
        self.formAfterThought = formAfterThought
        self.stream = stream
        self.endOfSequence = endOfSequence
        self.stops = stops
        self.text = text
        self.saved = saved
    }

    /// What the completion must be like from its first token on.
    var firstConstraint: (any Constraint)? {
        guard let thought, thought.limit != nil || formAfterThought != nil else { return constraint }
        return ThoughtConstraint(thought, maxTokens: maxTokens, text: text, form: formAfterThought)
    }

    package var sampledTokens: Int { maxTokens }
    package var savedCount: Int { saved?.tokens.count ?? 0 }
    package var weight: Int { 0 }

    /// How tokens are chosen, and which texts end them, the request's settings say.
    package var content: GoalContent? {
        guard !scoresPrompt, constraint == nil && formAfterThought == nil || constraintID != nil else {
            return nil
        }
        var content = GoalContent("sampling")
        content.append(maxTokens)
        content.append(endOfSequence.sorted())
        content.append(constraintID == nil ? 0 : 1)
        content.append(constraintID ?? [])
        if let thought {
            content.append(thought.isOpen ? 1 : 0)
            content.append(thought.limit ?? -1)
            content.append(thought.closing)
        }
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
