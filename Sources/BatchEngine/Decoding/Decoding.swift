/// How far the rows of one sequence are computed on the way to its goal, and what has come of them.
package protocol Decoding: Sendable {
    /// The tokens after the prompt, as far as they are known: those that are computed and those that come next.
    var following: ArraySlice<Int32> { get }
    /// How many of `following` may be in the cache when the sequence begins (again), -1 for all of the prompt but its
    /// last token: about the rows of the others something is asked.
    var cacheable: Int { get }
    /// Whether `following` only grows. The default is that it does.
    var onlyGrows: Bool { get }
    /// Whether nothing more comes of it.
    var isDone: Bool { get }
    /// Why it can't go on.
    var fault: ChoiceFault? { get }
    /// How many tokens are sampled or scored.
    var progress: Int { get }
    /// The sampled tokens. The default is none.
    var sampled: [Int32] { get }
    /// How many of them an earlier run has made. The default is 0.
    var savedCount: Int { get }
    /// For each of them what the source keeps beside it, if anything. The default is nothing.
    var notes: [String] { get }
    /// The memory that its outcome takes beside the goal's, in tokens. The default is 0.
    var weight: Int { get }
    /// What is kept of it once it is done; nil, the default, if that can't be said.
    var outcome: DecodingOutcome? { get }
    /// How many tokens may be guessed beside those that are certain. The default is none.
    var guessLimit: Int { get }

    /// Parts that sequences of their own can go through side by side; none, the default, if it is no use or can't be. What
    /// comes of it is the same.
    func parts(atMost most: Int) -> [any Decoding]
    /// Takes what came of its parts, in their order, of which some may be missing if one has a fault.
    mutating func join(_ parts: [any Decoding])

    /// The sequence begins (again), from its first token or what of it is in the cache. Does nothing by default.
    mutating func begin()
    /// The next rows for the engine.
    /// - Parameters:
    ///   - end: how many of `following` the sequence has with `rows`; below 0 within the prompt.
    ///   - isLast: no row is left that could be sent with them.
    ///   - guess: tokens that may come after the rows, if they are the last.
    func input(
        _ sequence: RequestID, _ rows: ArraySlice<Int32>, end: Int, isLast: Bool, guess: [Int32]
    ) -> StepInput
    /// Takes what a step says of the rows that were sent.
    /// - Parameter note: what the source keeps beside a sampled token.
    mutating func take(_ answer: StepAnswer, note: (SampledToken) -> String?) -> DecodingStep
    /// Takes the tokens that are certain before anything is computed. The default is none.
    mutating func takeForced() -> DecodingStep
}

/// What is new on a decoding.
package struct DecodingStep {
    /// Tokens that are known now, to be sent after those that are left.
    package var rows: ArraySlice<Int32> = []
    /// How many tokens were sampled, or are certain after those.
    package var tokens = 0
    /// The text that has become certain.
    package var text = ""
    /// The same of reasoning before the answer, with its tags.
    package var reasoning = ""

    package init(rows: ArraySlice<Int32> = []) { self.rows = rows }
}

extension Decoding {
    package var onlyGrows: Bool { true }
    package var sampled: [Int32] { [] }
    package var savedCount: Int { 0 }
    package var notes: [String] { [] }
    package var weight: Int { 0 }
    package var outcome: DecodingOutcome? { nil }
    package var guessLimit: Int { 0 }
    package func parts(atMost most: Int) -> [any Decoding] { [] }
    package mutating func join(_ parts: [any Decoding]) {}
    package mutating func begin() {}
    package mutating func takeForced() -> DecodingStep { DecodingStep() }
}
