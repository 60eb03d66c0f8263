/// All that decides one sequence's next token, apart from the model: an engine asked for a token gets the
/// logits, changes and filters them in this order, and draws.
///
/// 1. the constraint's mask: all other tokens are out
/// 2. bias and penalties; `LogitRules` has their order
/// 3. temperature; at 0 the largest logit is chosen (of equals, that of the lower id), and this is the end
/// 4. top-k
/// 5. top-p, of what top-k left
/// 6. min-p
/// 7. the draw
///
/// Log-probabilities are the model's own, as before step 1.
///
/// A value: a copy is the state after the tokens accepted so far, to go back to or to try guesses with.
package struct SamplingRequest: Sendable {
    /// What copies share until one of them goes on: there are several of them for each token.
    // Unchecked, as it changes while one request alone has it.
    private final class State: @unchecked Sendable {
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

        func copy() -> State { State(parameters, stream, position, history, constraint) }
    }

    private var state: State

    package var parameters: SamplingParameters { state.parameters }
    /// The request's own random stream (a hash of the job's seed and the line's id and sample number).
    package var stream: UInt64 { state.stream }
    /// Which number of that stream is used: how many tokens this completion already has.
    package var position: Int { state.position }
    /// What rules look at.
    package var history: TokenHistory { state.history }
    package var constraint: (any Constraint)? { isConstrained ? state.constraint : nil }
    package var isConstrained: Bool { state.isConstrained }

    /// The state before the completion's first token.
    /// - Parameters:
    ///   - position: of the random stream, where the first token is not the first number's.
    ///   - prompt: for rules that look at it.
    ///   - ends: tokens that end the completion, for rules that say when it may.
    package init(
        parameters: SamplingParameters, stream: UInt64, position: Int = 0, prompt: [Int32] = [],
        ends: Set<Int32> = [], constraint: (any Constraint)? = nil
    ) {
        let history = TokenHistory(prompt: parameters.rules.usesPrompt ? prompt : [], ends: ends)
        state = State(parameters, stream, position, history, constraint)
    }

    /// Goes on to after `token`, a token of the completion.
    /// - Returns: false if the constraint doesn't allow it. Then nothing has changed.
    package mutating func accept(_ token: Int32) -> Bool {
        if !isKnownUniquelyReferenced(&state) { state = state.copy() }
        if isConstrained, state.constraint?.accept(token) == false { return false }
        if parameters.rules.usesCompletion { state.history.append(token) }
        state.position += 1
        return true
    }

    /// Whether the constraint lets nothing follow.
    package var isComplete: Bool { isConstrained && constraint?.isComplete == true }

    /// Whether the token limit has changed what the constraint allowed.
    package var isSteered: Bool { constraint?.isSteered ?? false }

    /// The next tokens, as far as they are certain before there are logits.
    package var forced: ArraySlice<Int32> { constraint?.forced ?? [] }

    /// Whether steps 1 and 2 change anything.
    package var changesLogits: Bool { isConstrained || parameters.rules.changeLogits(history) }

    /// Steps 1 and 2, in place.
    package func changeLogits(_ row: UnsafeMutableBufferPointer<Float>) {
        constraint?.allowed().apply(to: row)
        parameters.rules.apply(to: row, history: history)
    }
}
