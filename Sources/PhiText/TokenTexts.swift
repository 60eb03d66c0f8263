/// A vocabulary as texts: what answers can be constrained by.
package struct TokenTexts: Sendable {
    /// By id the bytes that a token adds to a text; nil for ids that are no text, such as those of control tokens.
    package let bytes: [[UInt8]?]
    /// Whether a space at the beginning of a text is dropped.
    package let dropsFirstSpace: Bool
    /// The canonical tokens of a text that goes on from another. Special tokens don't come of it.
    package let encode: @Sendable (String) -> [Int32]

    package init(
        bytes: [[UInt8]?], dropsFirstSpace: Bool = false, encode: @escaping @Sendable (String) -> [Int32]
    ) {
        self.bytes = bytes
        self.dropsFirstSpace = dropsFirstSpace
        self.encode = encode
    }
}

extension Tokenizer {
    /// Nil if a text is more than its tokens' bytes put together, as without a decoder.
    package var tokenTexts: TokenTexts? {
        guard let dropsFirstSpace else { return nil }
        let texts = (0..<Int32(vocabularySize)).map { id -> [UInt8]? in
            guard isText(id) else { return nil }
            let bytes = bytes(of: id)
            return bytes.isEmpty ? nil : bytes
        }
        return TokenTexts(bytes: texts, dropsFirstSpace: dropsFirstSpace) { self.encode(continuing: $0) }
    }
}

extension TextCodec {
    package var tokenTexts: TokenTexts? { tokenizer.tokenTexts }
}
