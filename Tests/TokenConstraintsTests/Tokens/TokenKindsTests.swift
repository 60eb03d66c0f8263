import BatchEngine
import JSON
import JSONSchema
import Testing

@testable import TokenConstraints

/// Tokens of the same kinds of scalars are looked at as one, which masks must not show.
struct TokenKindsTests {
    @Test func kindsStandForScalarsButInEscapes() {
        let text = Array("aZ7 \\ne\\u00e9x\u{e9}\u{20ac}\u{65e5}-".utf8)
        let kinds =
            [0xF7, 0xF6, 0xF5] + Array(" \\n".utf8) + [0xF7] + Array("\\u00e9".utf8) + [
                0xF7, 0xF8, 0xFE, 0xF9, 0x2D,
            ]
        #expect(ScalarKind.kinds(of: text[...]) == kinds)
        // Spaces are of no kind.
        #expect(
            ScalarKind.kinds(of: Array("\u{a0}\u{e9}\u{3000}".utf8)[...]) == [
                0xC2, 0xA0, 0xF8, 0xE3, 0x80, 0x80,
            ])
        // A scalar that is begun stays as it is; what begins with none is left out.
        #expect(ScalarKind.kinds(of: [0x61, 0xE6, 0x97]) == [0xF7, 0xE6, 0x97])
        #expect(ScalarKind.kinds(of: [0x97, 0x61]) == nil)
    }

    /// Else each token with such scalars is looked at.
    @Test func rulesOnLettersTellNoKindApart() throws {
        let schema = try TextSamples.schema(#"{"pattern": "^[\\p{L}\\p{N}_]*$"}"#)
        let contents = try #require(TextSamples.string(schema).text).contents
        let nexts = (ScalarKind.first...0xFD).map { contents.next(contents.start, ofKind: $0) }
        // Digits, six kinds of letters, marks, numbers.
        #expect(nexts == [Int32](repeating: contents.start, count: 7) + [-1, contents.start])
    }

    /// All texts of up to three pieces, of which so many are alike that they are crowds.
    private static let tokens: TokenTrie = {
        let pieces = [
            "a", "b", "c", "d", "e", "f", "g", "h", "n", "Z", "7", " ", "-", "\\", "\"", "\u{e9}", "\u{65e5}",
            "@", "\u{a0}", "\u{b0}",
        ]
        .map { Array($0.utf8) }
        let pairs = pieces + pieces.flatMap { first in pieces.map { first + $0 } }
        var texts: [[UInt8]?] = [nil] + (UInt8.min...UInt8.max).map { [$0] } + [[0x61, 0xE6], [0x97, 0x61]]
        texts += pairs.filter { $0.count > 1 } + pairs.flatMap { first in pieces.map { first + $0 } }
        return TokenTrie(texts: texts, endOfSequence: [0]) { $0.utf8.map { Int32($0) + 1 } }
    }()

    @Test(arguments: [
        #"{"type": "string", "format": "email"}"#,
        #"{"type": "string", "pattern": "^[a-z]{2,9}-[0-9]+$"}"#,
        #"{"type": "string", "pattern": "^(?:\\S+\\s+){0,2}\\S+$", "maxLength": 9}"#,
        #"{"type": "string", "pattern": "^[^b]*$", "minLength": 5}"#,
        #"{"type": "string", "pattern": "bed", "maxLength": 12}"#,
        #"{"type": "string", "pattern": "^[^@]{2,4}@[a-g]*Z", "maxLength": 200}"#,
        #"{"type": "string", "pattern": "^[A-Za-z\\u00aa-\\u02af\\u4e00-\\u9fa5]+$"}"#,
        #"{"type": "string", "pattern": "^[\\p{L}\\p{N} ]+$", "maxLength": 3}"#,
        #"{"patternProperties": {"be": {"type": "null"}, "fed": {"type": "string"}}, "type": "object"}"#,
        #"{"patternProperties": {"^[a-fé]+$": {"type": "null"}}, "additionalProperties": false, "type": "object"}"#,
    ])
    func masksHaveTheTokensThatAreAccepted(_ schema: String) throws {
        let schema = try Schema(JSONValue(parsing: Array(schema.utf8), limits: .ownLine))
        let grammar = try AnswerGrammar(schema, tokens: Self.tokens)
        var random = PlainRandom(1)
        for _ in 0..<3 {
            var constraint = grammar.constraint(maxTokens: 1000)
            for _ in 0..<5 where !constraint.isComplete {
                let mask = constraint.allowed()
                let accepted = (1..<Int32(Self.tokens.count)).filter { token in
                    var copy = constraint
                    return copy.accept(token)
                }
                #expect(mask.tokens.filter { $0 > 0 } == accepted)
                _ = constraint.accept(accepted.randomElement(using: &random) ?? 0)
            }
        }
    }
}
