/// Everything that determines a sequence's next token apart from the model. The engine changes and filters the logits
/// in this order, and draws.
///
/// 1. the constraint's mask excludes all other tokens
/// 2. bias and penalties; `LogitRules` has their order
/// 3. temperature; at 0 the largest logit is chosen (lowest id among equals), and the steps below are skipped
/// 4. `SamplingFilters.list`, one after the other
/// 5. the draw
///
/// Log-probabilities are the model's own, before step 1.
///
/// A value: a copy keeps the current state, to go back to it or to try draft tokens.
package struct SamplingRequest: Sendable {
    /// State that copies share until one of them advances, as there are several copies for each token.
    // Unchecked: it is mutated only while uniquely referenced.
    private final class SharedState: @unchecked Sendable {
        let parameters: SamplingParameters
        let stream: UInt64
        let isConstrained: Bool
        var position: Int
        var history: TokenHistory
        var constraint: (any Constraint)?

        init(
            _ parameters: SamplingParameters, _ stream: UInt64, _ position: Int, _ history: TokenHistory,
            _ constraint: (any Constraint)?
        ) {
            (self.parameters, self.stream, isConstrained) = (parameters, stream, constraint != nil)
            (self.position, self.history, self.constraint) = (position, history, constraint)
        }

        func copy() -> SharedState { SharedState(parameters, stream, position, history, constraint) }
    }

    private var state: SharedState

    package var parameters: SamplingParameters { state.parameters }
    /// Key of the random stream, a hash of the job's seed and the line's id and sample number.
    package var stream: UInt64 { state.stream }
    /// Index of the next number of that stream: the number of tokens in the completion.
    package var position: Int { state.position }
    /// Tokens so far, for rules.
    package var history: TokenHistory { state.history }
    package var constraint: (any Constraint)? { isConstrained ? state.constraint : nil }
    package var isConstrained: Bool { state.isConstrained }

    /// Creates the state before the completion's first token.
    /// - Parameters:
    ///   - position: of the random stream, if it doesn't begin with its first number.
    ///   - prompt: for rules that depend on it.
    ///   - ends: tokens that end the completion, for rules that limit when it may.
    package init(
        parameters: SamplingParameters, stream: UInt64, position: Int = 0, prompt: [Int32] = [],
        ends: Set<Int32> = [], constraint: (any Constraint)? = nil
    ) {
        let history = TokenHistory(prompt: parameters.rules.usesPrompt ? prompt : [], ends: ends)
        state = SharedState(parameters, stream, position, history, constraint)
    }

    /// Advances past `token`, a token of the completion.
    /// - Returns: false if the constraint doesn't allow it. Then nothing has changed.
    package mutating func accept(_ token: Int32) -> Bool {
        if !isKnownUniquelyReferenced(&state) { state = state.copy() }
        if isConstrained, state.constraint?.accept(token) == false { return false }
        if parameters.rules.usesCompletion { state.history.append(token) }
        state.position += 1
        return true
    }

    /// Whether the constraint allows nothing more.
    package var isComplete: Bool { isConstrained && constraint?.isComplete == true }

    /// Whether the token limit has excluded tokens that the constraint would allow.
    package var isSteered: Bool { constraint?.isSteered ?? false }

    /// The next tokens, as far as they are certain without logits.
    package var forced: ArraySlice<Int32> { constraint?.forced ?? [] }

    /// Whether steps 1 and 2 change any logit.
    package var changesLogits: Bool { isConstrained || parameters.rules.changeLogits(history) }
}
