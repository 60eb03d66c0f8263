import TestSupport
import Testing

@testable import BatchEngine

/// Reasoning are told from answers, however the text is cut into tokens.
@Suite struct ReasoningReaderTests {
    private func reasoning(isOpen: Bool = false, gap: Int = 0) -> ReasoningPlan {
        var tags = ReasoningTags()
        (tags.openingToken, tags.closingToken) = (900, 901)
        var reasoning = ReasoningPlan(tags, isOpen: isOpen, vocabularySize: 1000)
        reasoning.gap = Array(repeating: 1, count: gap)
        return reasoning
    }

    /// - Parameter pieces: the text of each token.
    private func read(_ pieces: [String], _ reasoning: ReasoningPlan) -> (
        ReasoningReader.Piece, ReasoningReader
    ) {
        var reader = ReasoningReader(reasoning)
        var whole = ReasoningReader.Piece()
        for piece in pieces {
            // Tokens of tags have no text of their own here.
            let isTag = piece == "OPEN" || piece == "CLOSE"
            let token: Int32 = piece == "OPEN" ? 900 : piece == "CLOSE" ? 901 : 5
            let part = reader.append(isTag ? "" : piece, of: token)
            whole.reasoning += part.reasoning
            whole.answer += part.answer
        }
        let rest = reader.finish("")
        whole.reasoning += rest.reasoning
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
            let (whole, reader) = read(pieces, reasoning())
            #expect(whole.reasoning == thinks && whole.answer == answer, "\(pieces)")
            #expect(ReasoningTags().content(of: whole.reasoning, isOpen: false) == content)
            #expect(reader.tokens <= pieces.count && (reader.tokens == 0) == thinks.isEmpty)
        }
    }

    @Test func tagsMayBeTokensWithoutText() {
        let (whole, reader) = read(["OPEN", "a", " b", "CLOSE", "c"], reasoning())
        #expect(whole.reasoning == "<think>a b</think>" && whole.answer == "c" && reader.tokens == 4)
        // Only the opening one begins reasoning, and only at the start.
        #expect(read(["a", "OPEN", "b"], reasoning()).0.answer == "a<think>b")
    }

    @Test func aPromptMayHaveBegunIt() {
        let (whole, reader) = read(["a", "</thi", "nk>", "\nb"], reasoning(isOpen: true))
        #expect(whole.reasoning == "a</think>\n" && whole.answer == "b" && reader.tokens == 3)
    }

    /// What has a form begins with a token of its own, after as many tokens as stand between.
    @Test func aFormFollowsAGap() {
        let (whole, reader) = read(["OPEN", "a", "</think>", "\n", "\n", "\n{", "}"], reasoning(gap: 2))
        #expect(whole.reasoning == "<think>a</think>\n\n" && whole.answer == "\n{}" && reader.tokens == 5)
        // Nothing is put in between where the tag's own token has more than the tag.
        let (other, second) = read(["OPEN", "a", "</think>\n\n", "{}"], reasoning(gap: 2))
        #expect(other.reasoning == "<think>a</think>\n\n" && other.answer == "{}" && second.tokens == 3)
    }
}
