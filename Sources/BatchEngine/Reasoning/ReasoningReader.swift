/// Tells the reasoning of a completion from its answer, token by token. What could still become a tag is held back.
///
/// A value: a copy goes on by itself.
package struct ReasoningReader: Sendable {
    private enum Place { case before, inside, gap, answer }

    /// Text that has become certain.
    package struct Piece {
        /// The reasoning's, with its tags and the white space around it.
        package var reasoning = ""
        package var answer = ""
    }

    private let tags: ReasoningTags
    /// What follows must have a form, which begins with a token of its own.
    private let hasForm: Bool
    private var place: Place
    private var held: [UInt8] = []
    /// Tokens up to the answer.
    package private(set) var tokens = 0
    /// Tokens before the first that has text of the answer.
    package private(set) var skipped = 0
    private var taken = 0
    /// Tokens after the reasoning that are not the answer's, and still to come.
    package private(set) var gapLeft: Int

    package init(_ reasoning: ReasoningPlan) {
        tags = reasoning.tags
        hasForm = !reasoning.gap.isEmpty
        gapLeft = reasoning.gap.count
        place = reasoning.isOpen ? .inside : .before
    }

    /// Whether the reasoning is over, or there is none.
    package var isOver: Bool { place == .gap || place == .answer }
    package var isInside: Bool { place == .inside }

    /// - Parameter text: the text that became certain with the token.
    package mutating func append(_ text: String, of token: Int32) -> Piece {
        taken += 1
        let isBefore = place == .before
        let piece = read(text, of: token)
        if isBefore, place == .answer {
            skipped = 0
        } else if piece.answer.isEmpty, skipped == taken - 1 {
            skipped = taken
        }
        return piece
    }

    private mutating func read(_ text: String, of token: Int32) -> Piece {
        if place == .gap, gapLeft > 0 {
            gapLeft -= 1
            tokens += 1
            if gapLeft == 0 { place = .answer }
            return Piece(reasoning: text)
        }
        if !isOver { tokens += 1 }
        held += text.utf8
        if let tag = tags.text(of: token), text.isEmpty { held += tag.utf8 }
        return release()
    }

    /// The rest, at the end of the completion.
    package mutating func finish(_ text: String) -> Piece {
        held += text.utf8
        var piece = release()
        let rest = take(held.count)
        if place == .inside { piece.reasoning += rest } else { piece.answer += rest }
        if place == .before { (tokens, skipped) = (0, 0) }
        return piece
    }

    private mutating func release() -> Piece {
        var piece = Piece()
        if place == .before {
            let start = held.firstIndex { !ReasoningTags.isSpace($0) } ?? held.count
            let rest = held[start...]
            let tag = tags.opening.utf8
            if rest.starts(with: tag) {
                piece.reasoning += take(start + tag.count)
                place = .inside
            } else if rest.count < tag.count, tag.starts(with: rest) {
                return piece
            } else {
                (place, tokens) = (.answer, 0)
            }
        }
        if place == .inside {
            guard let end = endOfTag() else {
                piece.reasoning += take(held.count - held.heldBack(for: Array(tags.closing.utf8)))
                return piece
            }
            piece.reasoning += take(end)
            place = .gap
            // What a token has after the tag would come before the form.
            if hasForm {
                if !held.isEmpty { gapLeft = 0 }
                piece.reasoning += take(held.count)
                if gapLeft == 0 { place = .answer }
                return piece
            }
        }
        if place == .gap, !hasForm {
            piece.reasoning += take(held.firstIndex { !ReasoningTags.isSpace($0) } ?? held.count)
            if !held.isEmpty { place = .answer }
        }
        if place == .answer { piece.answer += take(held.count) }
        return piece
    }

    /// Tags begin with a whole character, so what is released ends with one.
    private mutating func take(_ count: Int) -> String {
        defer { held.removeFirst(count) }
        return String(decoding: held[..<count], as: UTF8.self)
    }

    /// Where the closing tag ends; nil if it is not there.
    private func endOfTag() -> Int? {
        let tag = Array(tags.closing.utf8)
        guard held.count >= tag.count else { return nil }
        return (tag.count...held.count).first { held[($0 - tag.count)..<$0].elementsEqual(tag) }
    }
}
