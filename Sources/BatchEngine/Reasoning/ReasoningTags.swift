/// How a model marks what it thinks before it answers: with two tags, each one token or several.
package struct ReasoningTags: Sendable, Equatable {
    package var opening = "<think>"
    package var closing = "</think>"
    /// The tags where they are a token by themselves: text streams may leave such tokens out.
    package var openingToken: Int32?
    package var closingToken: Int32?

    package init() {}

    /// The text of a tag that a text stream may leave out; nil of any other token.
    func text(of token: Int32) -> String? {
        switch token {
        case openingToken: opening
        case closingToken: closing
        default: nil
        }
    }

    /// Reasoning as it was written, without its tags and the white space around it.
    /// - Parameter isOpen: it goes on from the prompt, which has the first tag.
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
