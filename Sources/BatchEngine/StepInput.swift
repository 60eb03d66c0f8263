/// A sequence that holds KV-cache room in a model.
public struct SequenceID: Hashable, Sendable {
    public let value: Int
    public init(_ value: Int) { self.value = value }
}

/// The rows that one sequence brings into a step.
public struct StepInput: Sendable {
    public var sequence: SequenceID
    /// Tokens appended to the sequence: a chunk of its prompt, or the one token chosen last.
    public var tokens: ArraySlice<Int32>
    /// If set, a token is chosen from the logits behind the last of `tokens`.
    public var sampling: SamplingRequest?

    public init(sequence: SequenceID, tokens: ArraySlice<Int32>, sampling: SamplingRequest?) {
        self.sequence = sequence
        self.tokens = tokens
        self.sampling = sampling
    }
}
