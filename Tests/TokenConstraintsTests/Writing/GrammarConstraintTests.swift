import BatchEngine
import JSON
import Testing

@testable import TokenConstraints

@Suite struct GrammarConstraintTests {
    let tokens = SmallVocabulary.tokens()
    let crossing = Int32(257 + (SmallVocabulary.words.firstIndex(of: "x\":1,\"") ?? 0))

    func grammar(_ shape: AnswerShape, _ layout: AnswerGrammar.Layout = .compact) throws -> AnswerGrammar {
        try AnswerGrammar(shape, layout: layout, tokens: tokens)
    }

    func write(
        _ grammar: AnswerGrammar, _ maxTokens: Int, seed: Int,
        visit: (any Constraint, TokenMask, [UInt8]) -> Void = { _, _, _ in }
    ) -> Walk.Answer {
        var walk = Walk(tokens: tokens, random: PlainRandom(seed))
        let answer = walk.answer(grammar, maxTokens, visit: visit)
        #expect(answer.fault == nil, "after \(String(decoding: answer.text, as: UTF8.self))")
        return answer
    }

    @Test(arguments: 0..<8) func masksAreWhatTheStepsAllow(_ seed: Int) throws {
        for (shape, layout) in [
            (try Handmade.person(), AnswerGrammar.Layout.compact), (try Handmade.person(), .indented(2)),
            (Handmade.fewNames(), .compact), (Handmade.twins(), .compact),
            (Handmade.certainNames(), .compact),
            (try Handmade.patterns(), .compact),
        ] {
            _ = write(try grammar(shape, layout), 5_000, seed: seed) { constraint, mask, text in
                // A free name is not known before its token has come, so the same token begins no other one.
                for token in 0..<Int32(mask.count) where token != crossing {
                    var copy = constraint
                    guard copy.accept(token) != mask[token] else { continue }
                    Issue.record("\(token) after \(String(decoding: text, as: UTF8.self))")
                }
            }
        }
    }

    @Test func leastTokensIsTheLeast() throws {
        // {" name ":" "," age ": 12 }
        let grammar = try grammar(Handmade.twins())
        #expect(grammar.leastTokens == 8)
        var reached = Set<Int>()
        for seed in 0..<200 {
            reached.insert(write(grammar, grammar.leastTokens, seed: seed).tokens.count)
        }
        #expect(reached == [grammar.leastTokens])
    }

    @Test func aLargeLimitSteersNobody() throws {
        let answer = write(try grammar(Handmade.fewNames()), 5_000, seed: 1)
        #expect(!answer.isSteered)
    }

    @Test func whatMustComeIsWrittenInCanonicalTokens() throws {
        var constraint = try grammar(Handmade.twins()).constraint(maxTokens: 100)
        // {" name ": and then the choice of a string or "abc": the last two are left to the model.
        #expect(Array(constraint.forced) == [Int32(257 + 4)])
        let first = try #require(constraint.forced.first)
        #expect(constraint.allowed() == TokenMask([first], count: tokens.count))
        let isAccepted = constraint.accept(first)
        #expect(isAccepted)
        #expect(constraint.forced.isEmpty)
        let mask = constraint.allowed()
        #expect(mask[257] && mask[Int32(1 + UInt8(ascii: "n"))] && !mask[258])
    }

    @Test func aFirstSpaceIsDropped() throws {
        let tokens = SmallVocabulary.tokens(dropsFirstSpace: true)
        let grammar = try AnswerGrammar(
            Handmade.twins(), layout: .compact, tokens: tokens)
        var constraint = grammar.constraint(maxTokens: 100)
        let mask = constraint.allowed()
        // No token of this vocabulary begins with a space and a brace; a space alone would write nothing.
        #expect(!mask[Int32(1 + UInt8(ascii: " "))] && mask[Int32(1 + UInt8(ascii: "{"))])
        let answers = [
            constraint.accept(Int32(1 + UInt8(ascii: "{"))), constraint.accept(Int32(1 + UInt8(ascii: " "))),
        ]
        #expect(answers == [true, false])
    }

    @Test func aCopyGoesOnByItself() throws {
        var one = try grammar(Handmade.person()).constraint(maxTokens: 100)
        var other = one
        let first = try #require(one.forced.first)
        let answers = [one.accept(first), other.accept(first)]
        #expect(answers == [true, true])
        #expect(one.allowed() == other.allowed())
        _ = one.accept(Int32(1 + UInt8(ascii: "n")))
        #expect(one.allowed() != other.allowed())
    }
}
