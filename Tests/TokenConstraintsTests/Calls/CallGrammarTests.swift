import BatchEngine
import JSON
import JSONSchema
import Regex
import Testing

@testable import TokenConstraints

/// Text that may have calls after a mark: the calls are whole and follow their schema, wherever the mark comes.
@Suite struct CallGrammarTests {
    private static let schema: JSONValue = [
        "type": "array", "minItems": 1, "maxItems": 2,
        "items": [
            "type": "object", "properties": ["name": ["enum": ["red", "age"]]], "required": ["name"],
            "additionalProperties": false,
        ],
    ]

    /// - Parameter single: the mark is one token, which is no text.
    private func grammar(
        _ choice: CallGrammar.Choice, single: Bool, beside pattern: String? = nil
    ) throws -> (CallGrammar, TokenTrie) {
        let tokens = SmallVocabulary.tokens()
        let calls = try AnswerGrammar(Schema(Self.schema), tokens: tokens)
        let control = Int32(tokens.count - 1)
        let mark = (text: "ab", tokens: single ? [control] : [98, 99])
        let answer = try pattern.map { try AnswerGrammar(regex: $0, tokens: tokens) }
        return (CallGrammar(calls, choice, after: mark, beside: answer), tokens)
    }

    private func check(_ calls: String) throws {
        let value = try JSONValue(parsing: Array(calls.utf8), limits: .line)
        #expect(try Schema(Self.schema).accepts(value, assertsFormats: true), "\(calls)")
    }

    @Test(arguments: [3, 9, 14, 40, 200]) func textMayHaveCalls(maxTokens: Int) throws {
        let (grammar, tokens) = try grammar(.auto, single: false)
        var (withCalls, without) = (0, 0)
        for seed in 0..<400 {
            // Its tokens begin with those of the mark here and there.
            var walk = Walk(
                tokens: tokens, random: PlainRandom(seed), prefers: [98, 99, 1 + 256 + 10, 1 + 256 + 11])
            let answer = walk.answer(grammar.constraint(maxTokens: maxTokens), maxTokens)
            #expect(answer.fault == nil, "\(answer)")
            let text = String(decoding: answer.text, as: UTF8.self)
            if let mark = text.utf8.firstRange(of: "ab".utf8) {
                withCalls += 1
                try check(String(text[mark.upperBound...]))
            } else {
                without += 1
            }
        }
        #expect(without > 0)
        // Where there is no room for calls there are none.
        #expect(maxTokens < 9 ? withCalls == 0 : withCalls > 20, "\(withCalls) of \(maxTokens)")
    }

    /// Also where texts of the form begin as the mark does, or with it, or may be empty.
    @Test(arguments: ["red[0-9]{1,4}", "a|abc?[0-9]{2,}", "(ab12)?", "ab\\[x"], [true, false])
    func callsMayStandBesideAForm(pattern: String, single: Bool) throws {
        let (grammar, tokens) = try grammar(.auto, single: single, beside: pattern)
        let control = Int32(tokens.count - 1)
        let leastWithCalls = grammar.opening.count + grammar.calls.leastTokens
        let whole = try ECMARegex("^(?:\(pattern))$")
        var (withCalls, without) = (0, 0)
        for seed in 0..<400 {
            let maxTokens = grammar.leastTokens + [0, 1, 5, 8, 30][seed % 5]
            var walk = Walk(tokens: tokens, random: PlainRandom(seed), prefers: [98, 99, control])
            let answer = walk.answer(grammar.constraint(maxTokens: maxTokens), maxTokens)
            #expect(answer.fault == nil, "\(answer)")
            let text = String(decoding: answer.text, as: UTF8.self)
            var budget = 10_000
            if whole.matches(text, budget: &budget) == true, answer.tokens.first != control {
                without += 1
            } else {
                withCalls += 1
                #expect(maxTokens >= leastWithCalls && (single || text.hasPrefix("ab")))
                try check(String(text.dropFirst(single ? 0 : 2)))
            }
        }
        #expect(withCalls > 20 && without > 100, "\(withCalls) \(without)")
    }

    @Test(arguments: [true, false]) func callsMayHaveToBe(single: Bool) throws {
        let (grammar, tokens) = try grammar(.required, single: single)
        for seed in 0..<200 {
            var walk = Walk(tokens: tokens, random: PlainRandom(seed))
            let answer = walk.answer(
                grammar.constraint(maxTokens: grammar.leastTokens + seed % 9), grammar.leastTokens + seed % 9)
            #expect(answer.fault == nil, "\(answer)")
            try check(String(decoding: answer.text.dropFirst(single ? 0 : 2), as: UTF8.self))
        }
    }

    @Test(arguments: [true, false]) func callsMayBeForbidden(single: Bool) throws {
        let (grammar, tokens) = try grammar(.none, single: single)
        let control = Int32(tokens.count - 1)
        for seed in 0..<200 {
            var walk = Walk(tokens: tokens, random: PlainRandom(seed), prefers: [98, 99, control])
            let answer = walk.answer(grammar.constraint(maxTokens: 60), 60)
            #expect(answer.fault == nil && answer.text.firstRange(of: Array("ab".utf8)) == nil)
            #expect(!answer.tokens.contains(control) || !single)
        }
    }

    @Test func aTokenMayBeTheMark() throws {
        let (grammar, tokens) = try grammar(.auto, single: true)
        let control = Int32(tokens.count - 1)
        var constraint = grammar.constraint(maxTokens: 50)
        for token: Int32 in [50, 51, control] {
            let isThere = constraint.allowed()[token] && constraint.accept(token)
            #expect(isThere)
        }
        #expect(!constraint.allowed()[50] && constraint.allowed().tokenCount < 20)
    }
}
