/// Progress of one sequence towards its request's result.
package protocol Decoding: Sendable {
    /// Known tokens after the prompt: computed ones and the next ones.
    var following: ArraySlice<Int32> { get }
    /// Number of tokens of `following` that may come from the cache at admission; -1 for all of the prompt but its last
    /// token. The rows of the others are needed for their logits.
    var cacheable: Int { get }
    /// Whether `following` only grows. True by default.
    var onlyGrows: Bool { get }
    /// Whether it has ended.
    var isDone: Bool { get }
    /// Reason why it can't go on.
    var fault: ChoiceFault? { get }
    /// Number of tokens sampled or scored.
    var progress: Int { get }
    /// The sampled tokens. None by default.
    var sampled: [Int32] { get }
    /// Number of them made by an earlier run. 0 by default.
    var savedCount: Int { get }
    /// Memory of its outcome beyond the request's own, in tokens. 0 by default.
    var weight: Int { get }
    /// State to save; nil, the default, if it can't be saved.
    var saved: SavedDecoding? { get }
    /// Number of draft tokens that may follow the certain ones. 0 by default.
    var draftLimit: Int { get }

    /// Splits it into parts that sequences can compute side by side, with the same result. Empty, the default, if that
    /// is useless or impossible.
    func parts(atMost most: Int) -> [any Decoding]
    /// Takes the results of its parts, in their order. Some may be missing if one has a fault.
    mutating func join(_ parts: [any Decoding])

    /// Restarts the sequence from its first token that isn't in the cache. Does nothing by default.
    mutating func begin()
    /// Returns the next rows for the engine.
    /// - Parameters:
    ///   - end: number of tokens of `following` that the sequence has with `rows`; below 0 within the prompt.
    ///   - isLast: no further row could be sent with them.
    ///   - draft: draft tokens to follow the rows, if they are the last.
    func input(
        _ sequence: RequestID, _ rows: ArraySlice<Int32>, end: Int, isLast: Bool, draft: [Int32]
    ) -> PassInput
    /// Takes the answer of a pass to the rows that were sent.
    /// - Parameter note: returns the source's note on a sampled token.
    mutating func take(_ answer: PassAnswer, note: (SampledToken) -> String?) -> PassOutcome
    /// Takes the tokens that are certain before anything is computed. None by default.
    mutating func takeForced() -> PassOutcome
}

/// Progress made by one pass.
package struct PassOutcome {
    /// New tokens to send, after those not sent yet.
    package var rows: ArraySlice<Int32> = []
    /// Number of tokens sampled, or forced after those.
    package var tokens = 0
    /// New text that is certain.
    package var text = ""
    /// New text of the reasoning before the answer, with its tags.
    package var reasoning = ""

    package init(rows: ArraySlice<Int32> = []) { self.rows = rows }
}

extension Decoding {
    package var onlyGrows: Bool { true }
    package var sampled: [Int32] { [] }
    package var savedCount: Int { 0 }
    package var weight: Int { 0 }
    package var saved: SavedDecoding? { nil }
    package var draftLimit: Int { 0 }
    package func parts(atMost most: Int) -> [any Decoding] { [] }
    package mutating func join(_ parts: [any Decoding]) {}
    package mutating func begin() {}
    package mutating func takeForced() -> PassOutcome { PassOutcome() }

    /// Returns it as the decoding of a request of known kind.
    package func of<Kind: Decoding>(_ kind: Kind.Type) -> Kind {
        guard let decoding = self as? Kind else { preconditionFailure("the request has another goal") }
        return decoding
    }
}
