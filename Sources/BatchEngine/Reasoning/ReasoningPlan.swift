/// Plan of the reasoning before an answer: its beginning, its limit and its forced end.
package struct ReasoningPlan: Sendable, Equatable {
    package var tags: ReasoningTags
    /// Whether the prompt ends within it.
    package var isOpen: Bool
    /// Tokens that begin reasoning if it is forced: before a constrained answer, and if it is to be empty.
    package var opening: [Int32] = []
    /// Tokens that end it at `limit`.
    package var closing: [Int32] = []
    /// Tokens after it, before a constrained answer; an unconstrained one follows freely.
    package var gap: [Int32] = []
    /// Number of tokens at which it is ended; nil is no limit but the completion's.
    package var limit: Int?
    /// Size of masks.
    package var vocabularySize: Int
    /// Tokens that end a completion, masked in reasoning that an answer must follow.
    package var ends: Set<Int32> = []

    package init(_ tags: ReasoningTags, isOpen: Bool, vocabularySize: Int) {
        self.tags = tags
        self.isOpen = isOpen
        self.vocabularySize = vocabularySize
    }

    /// Returns the plan with room left for an answer, whatever limit was set.
    /// - Parameter maxTokens: of the completion.
    package func leavingRoom(of maxTokens: Int) -> ReasoningPlan {
        guard let limit, limit > 0 else { return self }
        var reasoning = self
        reasoning.limit = max(1, min(limit, maxTokens - closing.count - max(1, maxTokens / 8)))
        return reasoning
    }

    /// The fewest tokens that it takes if it is begun and ended by force.
    package var leastTokens: Int { opening.count + closing.count + gap.count }
}
