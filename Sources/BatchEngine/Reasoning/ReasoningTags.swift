/// The two tags around a model's reasoning, each one token or several.
package struct ReasoningTags: Sendable, Equatable {
    package var opening = "<think>"
    package var closing = "</think>"
    /// Tokens of the tags, if they are single tokens: text streams may leave those out.
    package var openingToken: Int32?
    package var closingToken: Int32?

    package init() {}

    /// Returns the text of a tag that a text stream may leave out; nil for any other token.
    func text(of token: Int32) -> String? {
        switch token {
        case openingToken: opening
        case closingToken: closing
        default: nil
        }
    }

    /// Returns generated reasoning without its tags and the white space around it.
    /// - Parameter isOpen: whether the prompt has the opening tag.
    func content(of reasoning: String, isOpen: Bool) -> String {
        var content = Self.trimmed(reasoning[...].utf8)
        if !isOpen, content.starts(with: opening.utf8) { content = content.dropFirst(opening.utf8.count) }
        let end = closing.utf8
        if content.count >= end.count, content.suffix(end.count).elementsEqual(end) {
            content = content.dropLast(end.count)
        }
        return String(Substring(Self.trimmed(content)))
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        let start = text.drop(while: isSpace)
        return start.lastIndex { !isSpace($0) }.map { start[...$0] } ?? start.prefix(0)
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
