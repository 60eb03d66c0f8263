/// The rows that one sequence brings into a step.
package struct StepInput: Sendable {
    package var sequence: RequestID
    /// Tokens appended to the sequence: a chunk of its prompt, or the one token chosen last.
    package var tokens: ArraySlice<Int32>
    /// If set, a token is chosen from the logits after the last of `tokens`.
    package var sampling: SamplingRequest?

    package init(sequence: RequestID, tokens: ArraySlice<Int32>, sampling: SamplingRequest?) {
        self.sequence = sequence
        self.tokens = tokens
        self.sampling = sampling
    }
}
