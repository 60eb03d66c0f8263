import JSON

/// A token found in the text itself, before any splitting.
struct AddedToken: Sendable, Equatable {
    var id: Int32
    var content: String
    /// Whether it takes the white space before it.
    var lstrip = false
    /// Whether it takes the white space after it.
    var rstrip = false
    /// Whether it is matched in the normalized text.
    var normalized = false
    var special = false
}

/// A part of a text: an added token, or text between them.
struct TextSection {
    var start: Int
    var end: Int
    /// Nil for text.
    var token: Int32?
}

/// Finds added tokens by the rules of Hugging Face's `AddedVocabulary`: the leftmost match, and of several the longest;
/// then a token may take white space.
struct AddedTokenMatcher: Sendable {
    private let tokens: [AddedToken]
    private let finder: TokenFinder

    /// - Parameter texts: the text of each of `tokens`.
    init(_ tokens: [AddedToken], texts: [[UInt8]]) {
        self.tokens = tokens
        finder = TokenFinder(texts)
    }

    /// - Parameters:
    ///   - specialAsText: whether special tokens stay text.
    ///   - controlAsText: whether other control tokens stay text, too.
    /// - Returns: sections in order, which together are the text (white space taken by tokens may be in two).
    func sections(of text: UnsafeBufferPointer<UInt8>, specialAsText: Bool, controlAsText: Bool = false)
        -> [TextSection]
    {
        guard let base = text.baseAddress, text.count > 0 else { return [] }
        var sections: [TextSection] = []
        var done = 0
        // A match that stays text still hides shorter and later ones.
        var matched = 0
        // End of the current white space, so that a long run is measured once.
        var run = 0..<0
        for hit in finder.hitsBackwards(in: text).reversed() where hit.start >= matched {
            matched = hit.end
            let token = tokens[hit.index]
            if specialAsText, token.special { continue }
            if controlAsText, ControlTokens.isControl(token) { continue }
            var start = hit.start
            var end = hit.end
            if token.lstrip, start > done { start = WhiteSpace.start(base, start, limit: done) }
            // The space before may already belong to the previous token.
            if token.lstrip { start = max(start, done) }
            if token.rstrip {
                if !run.contains(end) { run = end..<WhiteSpace.end(base, end, limit: text.count) }
                end = max(end, run.upperBound)
            }
            if done < start { sections.append(TextSection(start: done, end: start)) }
            sections.append(TextSection(start: start, end: end, token: token.id))
            done = end
        }
        if done < text.count { sections.append(TextSection(start: done, end: text.count)) }
        return sections
    }
}
