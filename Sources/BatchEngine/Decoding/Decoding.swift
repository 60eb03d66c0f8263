/// Progress of one sequence towards its request's result.
package protocol Decoding: Sendable {
    /// Known tokens after the prompt: computed ones and the next ones.
    var following: ArraySlice<Int32> { get }
    /// Number of tokens of `following` that may come from the cache at admission; -1 for all of the prompt but its last
    /// token. The rows of the others are needed for their logits.
    var cacheable: Int { get }
    /// Whether it has ended.
    var isDone: Bool { get }
    /// Reason why it can't go on.
    var fault: ChoiceFault? { get }
    /// State to save.
    var saved: SavedDecoding { get }

    /// Splits it into parts that sequences can compute side by side, with the same result. Empty, the default, if that
    /// is useless or impossible.
    func parts(atMost most: Int) -> [any Decoding]
    /// Takes the results of its parts, in their order. Some may be missing if one has a fault.
    mutating func join(_ parts: [any Decoding])

    /// Returns the next rows for the engine.
    /// - Parameters:
    ///   - end: number of tokens of `following` that the sequence has with `rows`; below 0 within the prompt.
    ///   - isLast: no further row could be sent with them.
    ///   - draft: draft tokens to follow the rows, if they are the last.
    func input(
        _ cache: SequenceCache, _ rows: ArraySlice<Int32>, end: Int, isLast: Bool, draft: [Int32]
    ) -> PassInput
    /// Takes the answer of a pass to the rows that were sent, and then the tokens that are certain without another. An
    /// empty answer comes before anything is computed.
    /// - Parameter note: returns the source's note on a sampled token.
    mutating func take(_ answer: PassAnswer, note: (SampledToken) -> String?) -> PassOutcome
}

/// Progress made by one pass.
package struct PassOutcome {
    /// New tokens to send, after those not sent yet. With them the sequence has its known tokens, so it may go back.
    package var rows: ArraySlice<Int32> = []
    /// Number of tokens sampled, or forced after those.
    package var tokens = 0
    /// New text that is certain.
    package var text = ReasoningReader.Piece()
}

extension Decoding {
    package func parts(atMost most: Int) -> [any Decoding] { [] }
    package mutating func join(_ parts: [any Decoding]) {}

    /// The sampled tokens.
    package var sampled: [Int32] { saved.tokens }
    /// Number of tokens sampled or scored.
    package var progress: Int { saved.tokens.count + saved.logprobs.count }

    /// Returns it as the decoding of a request of known kind.
    package func of<Kind: Decoding>(_ kind: Kind.Type) -> Kind {
        guard let decoding = self as? Kind else { preconditionFailure("the request has another goal") }
        return decoding
    }
}
