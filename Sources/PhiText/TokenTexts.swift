/// A vocabulary as texts, for constraints.
package struct TokenTexts: Sendable {
    /// Bytes that each token adds to a text, by id; nil for ids without text, such as control tokens.
    package let bytes: [[UInt8]?]
    /// Whether a leading space of a text is dropped.
    package let dropsFirstSpace: Bool
    /// Returns the canonical tokens of a text that continues another, without special tokens.
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
    /// Nil if a text is more than the concatenated bytes of its tokens, as without a decoder.
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
