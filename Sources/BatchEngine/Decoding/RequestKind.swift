/// Task of a request: to sample tokens after its prompt, to score given ones, or to compare a tree of them.
package protocol RequestKind: Sendable {
    /// The most tokens that may follow the prompt, 1 or more.
    var maxTokens: Int { get }
    /// Number of `maxTokens` that are sampled; 0 if all are given.
    var sampledTokens: Int { get }
    /// Memory beyond the prompt's, in tokens.
    var weight: Int { get }
    /// Everything that the outcome depends on beside prompt, settings and model. Nil, the default, if that is unknown;
    /// then no request counts as equal.
    var content: Digest? { get }

    /// Returns the decoding before its first token.
    func decoding(after prompt: [Int32]) -> any Decoding
    /// Returns the decoding that was saved of this request or an equal one.
    /// - Returns: nil if what was saved, which comes from a file, can't be this request's; by default.
    func decoding(_ saved: SavedDecoding, after prompt: [Int32], vocabularySize: Int) -> (any Decoding)?
}

extension RequestKind {
    package var sampledTokens: Int { 0 }
    package var content: Digest? { nil }
    package func decoding(
        _ saved: SavedDecoding, after prompt: [Int32], vocabularySize: Int
    ) -> (any Decoding)? { nil }
}
