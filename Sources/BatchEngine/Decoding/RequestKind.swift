/// What a request wants of a model: tokens sampled after its prompt, given ones scored, or a tree of them compared.
package protocol RequestKind: Sendable {
    /// Tokens that may follow the prompt, 1 or more.
    var maxTokens: Int { get }
    /// Those of `maxTokens` that are sampled; 0 where all are given.
    var sampledTokens: Int { get }
    /// Those of them that an earlier run has made. The default is none.
    var savedCount: Int { get }
    /// The memory that it takes beside the prompt, in tokens.
    var weight: Int { get }
    /// All that the outcome depends on beside the prompt, the request's settings and the model. The default is nil: that
    /// can't be said, and no other request is taken for an equal one.
    var content: RequestContent? { get }

    /// - Parameter vocabularySize: for tokens that an earlier run has left: they come from a file.
    func decoding(after prompt: [Int32], vocabularySize: Int) -> any Decoding
    /// The decoding that has come to an outcome, which an equal request had. The default is nil.
    /// - Returns: nil if the outcome, which comes from a file, can't be this goal's.
    func decoding(_ outcome: DecodingOutcome, after prompt: [Int32], vocabularySize: Int) -> (any Decoding)?
}

extension RequestKind {
    package var sampledTokens: Int { 0 }
    package var savedCount: Int { 0 }
    package var content: RequestContent? { nil }
    package func decoding(
        _ outcome: DecodingOutcome, after prompt: [Int32], vocabularySize: Int
    ) -> (any Decoding)? { nil }
}
