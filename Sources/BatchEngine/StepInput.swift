/// The rows that one sequence brings into a step.
public struct StepInput: Sendable {
    public var sequence: RequestID
    /// Tokens appended to the sequence: a chunk of its prompt, or the one token chosen last.
    public var tokens: ArraySlice<Int32>
    /// If set, a token is chosen from the logits behind the last of `tokens`.
    public var sampling: SamplingRequest?

    public init(sequence: RequestID, tokens: ArraySlice<Int32>, sampling: SamplingRequest?) {
        self.sequence = sequence
        self.tokens = tokens
        self.sampling = sampling
    }
}
