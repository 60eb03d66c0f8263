import BatchEngine
import Testing

@testable import TokenConstraints

/// Answers under grammars, token by token.
@Suite struct GrammarAnswerTests {
    static let json = #"""
        # A value; white space is a space or none.
        root   ::= value
        value  ::= object | list | text | number | "true" | "false" | "null"
        object ::= "{" ws (member ("," ws member)*)? "}"
        member ::= text ":" ws value
        list   ::= "[" ws (value ("," ws value)*)? "]"
        text   ::= "\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
        number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)?
        ws     ::= " "?
        """#
    static let sums = """
        root    ::= sum
        sum     ::= product | sum "+" sp product
        product ::= atom | product "*" sp atom
        atom    ::= [0-9]+ sp | [a-z]+ sp "(" sp (sum ("," sp sum)*)? ")" sp | "(" sp sum ")" sp
        sp      ::= " "*
        """
    static let grammars = [json, sums] + PushdownTests.grammars

    private let tokens = SmallVocabulary.tokens()

    @Test(arguments: grammars) func everyLimitGivesAWholeAnswer(_ text: String) throws {
        let source = try GrammarSource(text)
        let grammar = try AnswerGrammar(source, tokens: tokens)
        let matcher = GrammarMatcher(source)
        for seed in 0..<12 {
            for more in [0, 1, 2, 5, 40] {
                var walk = Walk(tokens: tokens, random: PlainRandom(seed))
                let answer = walk.answer(grammar, grammar.leastTokens + more)
                #expect(answer.fault == nil)
                #expect(
                    try matcher.verdict(on: answer.text) == .isText,
                    "\(String(decoding: answer.text, as: UTF8.self))")
            }
        }
    }

    @Test(arguments: grammars) func masksAreWhatTheStepsAllow(_ text: String) throws {
        let grammar = try AnswerGrammar(GrammarSource(text), tokens: tokens)
        for (seed, limit) in [(1, 200), (2, 30), (3, grammar.leastTokens + 2)] {
            var random = PlainRandom(seed)
            var constraint = grammar.constraint(maxTokens: limit)
            var count = 0
            while count < min(limit, 40), !constraint.isComplete {
                let mask = constraint.allowed()
                for token in 0..<Int32(mask.count) {
                    var copy = constraint
                    let isAccepted = copy.accept(token)
                    if mask[token] { #expect(isAccepted) }
                    // What the limit forbids, the steps would still allow.
                    if limit == 200, !mask[token] { #expect(!isAccepted) }
                }
                let token = try #require(mask.tokens.randomElement(using: &random))
                if token == SmallVocabulary.end { break }
                _ = constraint.accept(token)
                count += 1
            }
        }
    }

    @Test func steeredAnswersSaySo() throws {
        let grammar = try AnswerGrammar(GrammarSource(Self.json), tokens: tokens)
        #expect(grammar.leastTokens == 1)
        var free = grammar.constraint(maxTokens: 1_000)
        for byte in "[1".utf8 { _ = free.accept(Int32(1 + byte)) }
        #expect(!free.isSteered)
        var tight = grammar.constraint(maxTokens: 3)
        let answers = [
            tight.accept(Int32(1 + UInt8(ascii: "["))), tight.accept(Int32(1 + UInt8(ascii: "1"))),
        ]
        #expect(answers == [true, true] && tight.isSteered)
        #expect(tight.allowed().tokens == [Int32(1 + UInt8(ascii: "]"))])
    }

    @Test func whatMustComeIsKnown() throws {
        let grammar = try AnswerGrammar(
            GrammarSource(#"root ::= "{\" name \":" x "}"\#nx ::= "(" x ")" | "a""#), tokens: tokens)
        let constraint = grammar.constraint(maxTokens: 100)
        #expect(!constraint.forced.isEmpty)
    }

    /// A vocabulary that drops a first space: a token that is one alone says nothing.
    @Test func aTextMayBeginWithASpace() throws {
        let tokens = SmallVocabulary.tokens(dropsFirstSpace: true)
        let grammar = try AnswerGrammar(GrammarSource(#"root ::= " "* "a" "b"*"#), tokens: tokens)
        let constraint = grammar.constraint(maxTokens: 20)
        for token in constraint.allowed().tokens {
            var copy = constraint
            let isAccepted = copy.accept(token)
            #expect(isAccepted, "\(token)")
        }
        #expect(!constraint.allowed()[Int32(1 + UInt8(ascii: " "))])
        #expect(constraint.allowed()[Int32(1 + UInt8(ascii: "a"))])
    }

    @Test func textsAreJudged() throws {
        let matcher = GrammarMatcher(try GrammarSource(Self.json))
        #expect(try matcher.verdict(on: #"{"a": [1,2.5,"é"]}"#.utf8) == .isText)
        #expect(try matcher.verdict(on: "[1".utf8) == .unfinished)
        #expect(try matcher.verdict(on: "[01]".utf8) == .wrong(at: 2))
        #expect(try matcher.verdict(on: "1 ".utf8) == .wrong(at: 1))
    }
}
