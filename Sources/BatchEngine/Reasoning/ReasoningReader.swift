/// Separates the reasoning of a completion from its answer, token by token. Holds back text that could become a tag.
///
package struct ReasoningReader: Sendable {
    private enum TagPosition { case before, inside, gap, answer }

    /// New text that is certain.
    package struct Piece {
        /// Of the reasoning, with its tags and the white space around it.
        package var reasoning = ""
        package var answer = ""
    }

    private let tags: ReasoningTags
    /// Whether a constrained answer follows, which begins with a token of its own.
    private let hasForm: Bool
    private var place: TagPosition
    private var held: [UInt8] = []
    /// Number of tokens before the answer.
    package private(set) var tokens = 0
    /// Number of tokens before the first that has text of the answer.
    package private(set) var skipped = 0
    private var taken = 0
    /// Number of tokens still to come between reasoning and answer.
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

    /// - Parameter text: the text that the token completes.
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

    /// Returns the rest, at the end of the completion.
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
            // Text after the tag in the same token would stand before the constrained answer.
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

    /// Tags begin with a whole character, so the released text ends with one.
    private mutating func take(_ count: Int) -> String {
        defer { held.removeFirst(count) }
        return String(decoding: held[..<count], as: UTF8.self)
    }

    /// End of the closing tag; nil if it is not there.
    private func endOfTag() -> Int? {
        let tag = Array(tags.closing.utf8)
        guard held.count >= tag.count else { return nil }
        return (tag.count...held.count).first { held[($0 - tag.count)..<$0].elementsEqual(tag) }
    }
}
