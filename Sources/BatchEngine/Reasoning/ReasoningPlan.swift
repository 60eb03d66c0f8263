/// The reasoning that comes before an answer: how it begins, how long it may be, and how it is brought to an end.
package struct ReasoningPlan: Sendable, Equatable {
    package var tags: ReasoningTags
    /// The prompt ends within it.
    package var isOpen: Bool
    /// Tokens that begin it where it must come: before a form, and where it is to be empty.
    package var opening: [Int32] = []
    /// Tokens that end it when it has come to `limit`.
    package var closing: [Int32] = []
    /// Tokens after it, where what follows must have a form; else the model writes what it likes there.
    package var gap: [Int32] = []
    /// The tokens after which it is ended; nil is no limit but the completion's.
    package var limit: Int?
    /// How many ids the model has, for masks.
    package var vocabularySize: Int
    /// Tokens that end a completion. They are out in reasoning that an answer must follow.
    package var ends: Set<Int32> = []

    package init(_ tags: ReasoningTags, isOpen: Bool, vocabularySize: Int) {
        self.tags = tags
        self.isOpen = isOpen
        self.vocabularySize = vocabularySize
    }

    /// With some room left for an answer, whatever limit was asked for.
    /// - Parameter maxTokens: of the completion.
    package func leavingRoom(of maxTokens: Int) -> ReasoningPlan {
        guard let limit, limit > 0 else { return self }
        var reasoning = self
        reasoning.limit = max(1, min(limit, maxTokens - closing.count - max(1, maxTokens / 8)))
        return reasoning
    }

    /// The tokens that it takes at least, if it begins and ends by force.
    package var leastTokens: Int { opening.count + closing.count + gap.count }
}
