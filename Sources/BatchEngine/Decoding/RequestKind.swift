/// Task of a request: to sample tokens after its prompt, to score given ones, or to compare a tree of them.
package protocol RequestKind: Sendable {
    /// The most tokens that may follow the prompt, 1 or more.
    var maxTokens: Int { get }
    /// Number of `maxTokens` that are sampled; 0 if all are given.
    var sampledTokens: Int { get }
    /// Number of them made by an earlier run. 0 by default.
    var savedCount: Int { get }
    /// Memory beyond the prompt's, in tokens.
    var weight: Int { get }
    /// Everything that the outcome depends on beside prompt, settings and model. Nil, the default, if that is unknown;
    /// then no request counts as equal.
    var content: RequestContent? { get }

    /// - Parameter vocabularySize: to check tokens of an earlier run, which come from a file.
    func decoding(after prompt: [Int32], vocabularySize: Int) -> any Decoding
    /// Returns the ended decoding with an equal request's outcome. Nil by default.
    /// - Returns: nil if the outcome, which comes from a file, can't be this request's.
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
