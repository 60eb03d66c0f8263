import JSON

/// A token found in the text itself, before any splitting.
struct AddedToken: Sendable, Equatable {
    var id: Int32
    var content: String
    /// Whether it is not matched within a word.
    var singleWord = false
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
/// then a token may be rejected (within a word), or take white space.
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
        // A rejected match still hides shorter and later ones.
        var matched = 0
        // End of the current white space, so that a long run is measured once.
        var run = 0..<0
        for hit in finder.hitsBackwards(in: text).reversed() where hit.start >= matched {
            matched = hit.end
            let token = tokens[hit.index]
            if specialAsText, token.special { continue }
            if controlAsText, ControlTokens.isControl(token) { continue }
            if token.singleWord {
                let isInside =
                    hit.start > 0 && Self.isWord(base, UTF8Bytes.previous(base, hit.start, start: 0))
                    || hit.end < text.count && Self.isWord(base, hit.end)
                if isInside { continue }
            }
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

    /// Whether a word character begins here, by Unicode's UTS #18.
    private static func isWord(_ text: UnsafePointer<UInt8>, _ i: Int) -> Bool {
        guard let scalar = Unicode.Scalar(UTF8Bytes.decode(text, i).scalar) else { return false }
        let properties = scalar.properties
        if properties.isAlphabetic || properties.isJoinControl { return true }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation:
            return true
        default: return false
        }
    }
}
