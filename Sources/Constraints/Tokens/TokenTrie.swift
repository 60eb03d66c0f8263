import BatchEngine

/// The texts of a vocabulary's tokens, in the form in which masks are made. Built once for a model.
package final class TokenTrie: Sendable {
    /// Ids are 0 ..< count.
    package let count: Int
    package let endOfSequence: [Int32]

    /// - Parameters:
    ///   - texts: by id the bytes that a token adds to a text; nil for what is no text (control tokens), which is
    ///     never allowed.
    ///   - endOfSequence: allowed where an answer may end.
    ///   - dropsFirstSpace: whether a space at the beginning of a text is dropped.
    ///   - encode: the canonical tokens of a text, without special ones.
    package init(
        texts: [[UInt8]?], endOfSequence: [Int32], dropsFirstSpace: Bool = false,
        encode: @escaping @Sendable (String) -> [Int32]
    ) {
        count = texts.count
        self.endOfSequence = endOfSequence
    }
}
