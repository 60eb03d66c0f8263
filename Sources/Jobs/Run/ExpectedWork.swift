import BatchEngine

/// How long requests are likely to take, by what those before came to: so that a job's end doesn't wait for a long one
/// that began last.
struct ExpectedWork {
    /// Rows of a prompt that hold a request up as long as one token of its completion: they come many to a step.
    private static let promptRowsPerToken = 16.0
    /// Tokens of completions that have ended.
    private var (allowed, made) = (0, 0)

    /// Takes note of a request that was computed.
    mutating func note(_ sequence: TokenSequence) {
        allowed += sequence.request.goal.sampledTokens
        made += sequence.course.sampled.count
    }

    /// In tokens of a completion. What needs no model is soon done, and out of the way.
    func cost(of work: Work) -> Double {
        guard let goal = work.request?.goal else { return .infinity }
        let given = Double(work.weight) / Self.promptRowsPerToken
        guard goal.sampledTokens > 0 else { return given }
        let share = allowed > 0 ? Double(made) / Double(allowed) : 1
        let left = Double(goal.sampledTokens) * share - Double(goal.savedCount)
        return given + max(1, left)
    }
}
