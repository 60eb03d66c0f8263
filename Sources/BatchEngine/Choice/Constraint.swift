/// Determines which tokens may come next in one sequence.
///
/// A value: a copy keeps the current state, to go back to it or to try draft tokens. Anything costly (automata, masks
/// of frequent states) belongs in memory that copies share.
///
/// `allowed` depends on the accepted tokens alone. It may be called on any thread, also during the forward pass that
/// computes the logits.
package protocol Constraint: Sendable {
    /// Returns the tokens that may come next, at least one. The model's end of sequence is among them if the text may
    /// end.
    func allowed() -> TokenMask

    /// Advances past `token`.
    /// - Returns: false if the token is not allowed. Then nothing has changed.
    mutating func accept(_ token: Int32) -> Bool

    /// Whether the text is complete and nothing can follow, so that the completion ends without an end of sequence from
    /// the model. Read before the first token and after each. It must be true once only the end of sequence is allowed.
    var isComplete: Bool { get }

    /// Whether the token limit has excluded a token that would otherwise have been allowed, now or earlier. Read when
    /// the completion ends: if true, its finish reason is `length`.
    var isSteered: Bool { get }

    /// The next tokens, as long as only one is allowed at a time. They go into one pass together, unless
    /// log-probabilities are wanted. May be incomplete or empty.
    var forced: ArraySlice<Int32> { get }
}

extension Constraint {
    package var isComplete: Bool { false }
    package var isSteered: Bool { false }
    package var forced: ArraySlice<Int32> { [] }
}
