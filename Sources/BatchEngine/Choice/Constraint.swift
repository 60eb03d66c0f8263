/// Says which tokens may come next in one sequence, from those that have come so far.
///
/// A value: a copy is the same place in the same text, and goes on by itself. So keeping a copy is all that
/// going back takes, and tokens that are only guessed can be accepted by a copy. What is costly to build (an
/// automaton, masks of frequent states) belongs in memory that the copies share.
///
/// `allowed` depends on the accepted tokens alone. It may be asked on any thread, also while the forward pass
/// that computes the logits is running.
package protocol Constraint: Sendable {
    /// The tokens that may come next; at least one. Where the text may end, the model's end of sequence is
    /// among them.
    func allowed() -> TokenMask

    /// Goes on to after `token`.
    /// - Returns: false if the token is not allowed. Then nothing has changed.
    mutating func accept(_ token: Int32) -> Bool

    /// Whether the text is complete and nothing can follow: the completion ends here, without asking the model for
    /// the end of sequence. Asked before the first token and after each; true at the latest where the end of
    /// sequence is all that is allowed.
    var isComplete: Bool { get }

    /// Whether the token limit has ruled out a token that would have been allowed otherwise, here or at a place
    /// before. Asked when the completion ends: its finish reason is `length` then.
    var isSteered: Bool { get }

    /// The next tokens, as far as there is one only at each place. They go into one step together, unless
    /// log-probabilities are asked for. May be fewer than are certain, and none.
    var forced: ArraySlice<Int32> { get }
}

extension Constraint {
    package var isComplete: Bool { false }
    package var isSteered: Bool { false }
    package var forced: ArraySlice<Int32> { [] }
}
