import BatchEngine
import OperatingSystem
import Testing

@testable import TokenConstraints

/// Several threads make the masks of one grammar, at the same time and in orders of their own.
@Suite struct SideBySideTests {
    private let tokens = SmallVocabulary.tokens()

    /// A text of random tokens: which there are, and the masks on the way.
    private func walk(_ grammar: AnswerGrammar, seed: Int) -> (tokens: [Int32], masks: [TokenMask]) {
        let limit = grammar.leastTokens + [2, 12, 60][seed % 3]
        var walk = Walk(tokens: tokens, random: PlainRandom(seed))
        var masks: [TokenMask] = []
        let answer = walk.answer(grammar, limit) { _, mask, _ in masks.append(mask) }
        return (answer.tokens, masks)
    }

    private func check(_ make: () throws -> AnswerGrammar) throws {
        let seeds = 12
        // Each by a grammar that nobody has asked before.
        let alone = try (0..<seeds).map { walk(try make(), seed: $0) }
        let shared = try make()
        let found = Mutex([Int: (tokens: [Int32], masks: [TokenMask])]())
        onThreads(4, count: 2 * seeds) { number in
            let walked = walk(shared, seed: number % seeds)
            found.withLock { $0[number] = walked }
        }
        for (number, walked) in found.withLock({ $0 }) {
            #expect(walked.tokens == alone[number % seeds].tokens)
            #expect(walked.masks == alone[number % seeds].masks)
        }
    }

    @Test func masksOfShapesAreTheSame() throws {
        for shape in [
            try Handmade.person(), Handmade.fewNames(), Handmade.twins(), try Handmade.patterns(),
        ] {
            for layout in [AnswerGrammar.Layout.compact, .indented(2)] {
                try check { try AnswerGrammar(shape, layout: layout, tokens: tokens) }
            }
        }
    }

    @Test(arguments: GrammarAnswerTests.grammars) func masksOfGrammarsAreTheSame(_ text: String) throws {
        let source = try GrammarSource(text)
        try check { try AnswerGrammar(source, tokens: tokens) }
    }

    @Test func masksOfExpressionsAreTheSame() throws {
        try check { try AnswerGrammar(regex: "(ab|abc|x+y{2,9})+é?", tokens: tokens) }
    }
}
