import TestSupport
import Testing

@testable import BatchEngine

/// Thoughts are told from answers, however the text is cut into tokens.
@Suite struct ThoughtReaderTests {
    private func thought(isOpen: Bool = false, gap: Int = 0) -> Thought {
        var tags = ThoughtTags()
        (tags.openingToken, tags.closingToken) = (900, 901)
        var thought = Thought(tags, isOpen: isOpen, vocabularySize: 1000)
        thought.gap = Array(repeating: 1, count: gap)
        return thought
    }

    /// - Parameter pieces: the text of each token.
    private func read(_ pieces: [String], _ thought: Thought) -> (ThoughtReader.Piece, ThoughtReader) {
        var reader = ThoughtReader(thought)
        var whole = ThoughtReader.Piece()
        for piece in pieces {
            // Tokens of tags have no text of their own here.
            let isTag = piece == "OPEN" || piece == "CLOSE"
            let token: Int32 = piece == "OPEN" ? 900 : piece == "CLOSE" ? 901 : 5
            let part = reader.append(isTag ? "" : piece, of: token)
            whole.thought += part.thought
            whole.answer += part.answer
        }
        let rest = reader.finish("")
        whole.thought += rest.thought
        whole.answer += rest.answer
        return (whole, reader)
    }

    @Test(arguments: [
        ("<think>\nTwo.\n</think>\n\nFour.", "<think>\nTwo.\n</think>\n\n", "Four.", "Two."),
        (" \n<think>a</think>b</think>", " \n<think>a</think>", "b</think>", "a"),
        ("Four. <think>no</think>", "", "Four. <think>no</think>", ""),
        ("<thin air>", "", "<thin air>", ""),
        ("<think>never ends </thin", "<think>never ends </thin", "", "never ends </thin"),
        ("<think></think>", "<think></think>", "", ""),
        ("<thi", "", "<thi", ""),
        ("", "", "", ""),
        ("<think>é日</think>日é", "<think>é日</think>", "日é", "é日"),
        ("<think></</think> x", "<think></</think> ", "x", "</"),
    ]) func anyPieces(text: String, thinks: String, answer: String, content: String) {
        var random = FixedRandom(5)
        for _ in 0..<60 {
            var (pieces, rest) = ([String](), text[...])
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...9, using: &random))
                pieces.append(String(piece))
                rest = rest.dropFirst(piece.count)
            }
            let (whole, reader) = read(pieces, thought())
            #expect(whole.thought == thinks && whole.answer == answer, "\(pieces)")
            #expect(ThoughtTags().content(of: whole.thought, isOpen: false) == content)
            #expect(reader.tokens <= pieces.count && (reader.tokens == 0) == thinks.isEmpty)
        }
    }

    @Test func tagsMayBeTokensWithoutText() {
        let (whole, reader) = read(["OPEN", "a", " b", "CLOSE", "c"], thought())
        #expect(whole.thought == "<think>a b</think>" && whole.answer == "c" && reader.tokens == 4)
        // Only the opening one begins a thought, and only at the start.
        #expect(read(["a", "OPEN", "b"], thought()).0.answer == "a<think>b")
    }

    @Test func aPromptMayHaveBegunIt() {
        let (whole, reader) = read(["a", "</thi", "nk>", "\nb"], thought(isOpen: true))
        #expect(whole.thought == "a</think>\n" && whole.answer == "b" && reader.tokens == 3)
    }

    /// What has a form begins with a token of its own, after as many tokens as stand between.
    @Test func aFormFollowsAGap() {
        let (whole, reader) = read(["OPEN", "a", "</think>", "\n", "\n", "\n{", "}"], thought(gap: 2))
        #expect(whole.thought == "<think>a</think>\n\n" && whole.answer == "\n{}" && reader.tokens == 5)
        // Nothing is put in between where the tag's own token has more than the tag.
        let (other, second) = read(["OPEN", "a", "</think>\n\n", "{}"], thought(gap: 2))
        #expect(other.thought == "<think>a</think>\n\n" && other.answer == "{}" && second.tokens == 3)
    }
}
