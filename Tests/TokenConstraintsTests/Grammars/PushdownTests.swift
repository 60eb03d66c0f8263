import BatchEngine
import Testing

@testable import TokenConstraints

/// What the steps say, against all texts of small grammars.
@Suite struct PushdownTests {
    static let grammars = [
        #"root ::= "a" root "b" | "ab""#,
        #"root ::= root root | "a" | "(" root ")""#,
        #"root ::= expr; expr"#.replacing("; expr", with: "\nexpr ::= expr \"a\" expr | \"b\""),
        "root ::= a b a\na ::= \"a\" a \"b\" | b\nb ::= \"\" | \"b\" b",
        "root ::= (\"a\" x)* \"b\"?\nx ::= \"(\" x? \")\" | \"a\"",
        "root ::= x{2,4} \"b\"\nx ::= \"(\" x \")\" | \"a\"?",
        "root ::= x y\nx ::= y \"a\" | \"a\"\ny ::= x \"b\" | \"b\"",
        "root ::= \"a\" root | \"a\" root \"b\" | \"\"",
        "root ::= item | item \",\" root\nitem ::= \"(\" root \")\" | [ab]",
        "root ::= (root?)* \"a\"",
        "root ::= x x x\nx ::= x x | \"a\" | \"\"",
        "root ::= [^\\x00-\\x60b-\\x7f] (\",\" root)? | \"(\" root \")\"",
    ]

    @Test(arguments: grammars) func stepsTakeTheGrammarsTexts(_ text: String) throws {
        let source = try GrammarSource(text)
        try check(source, alphabet: "ab(),", upTo: 4)
    }

    /// - Parameter most: bytes of the texts that are looked at; the reference knows longer ones.
    private func check(_ source: GrammarSource, alphabet: String, upTo most: Int) throws {
        let pushdown = try Pushdown(source)
        let slow = SlowGrammar(source, upTo: most + 3)
        for text in allTexts(of: alphabet, upTo: most) {
            let shown = String(decoding: text, as: UTF8.self)
            let state = pushdown.state(after: text)
            guard state >= 0 else {
                #expect(!slow.beginnings.contains(text), "\(shown) is lost")
                continue
            }
            #expect(pushdown.isFinal(state) == slow.texts.contains(text), "the end after \(shown)")
            let end = pushdown.shortestEnd(state)
            #expect(end.count == pushdown.fewestBytes(state), "the shortest end after \(shown)")
            let whole = text + end
            if whole.count <= slow.most {
                #expect(slow.texts.contains(whole), "\(shown) goes on to no text")
                #expect(
                    !slow.texts.contains { $0.count < whole.count && $0.starts(with: text) },
                    "the shortest end after \(shown) is none")
            } else {
                #expect(!slow.beginnings.contains(text), "a shorter end after \(shown)")
            }
            if let only = pushdown.onlyByte(state), slow.beginnings.contains(text) {
                let next = Set(slow.beginnings.filter { $0.count == text.count + 1 && $0.starts(with: text) })
                #expect(next == [text + [only]], "the only byte after \(shown)")
            }
        }
    }

    @Test(arguments: 0..<12) func stepsTakeTheTextsOfRandomGrammars(_ seed: Int) throws {
        var maker = RandomGrammar(seed)
        for _ in 0..<5 {
            let source = maker.grammar()
            do {
                try check(source, alphabet: "ab(", upTo: 4)
            } catch let fault as ConstraintFault {
                // One that has no texts.
                #expect(fault.kind == .unsatisfiable)
            }
        }
    }

    @Test(arguments: 0..<12) func masksAreExact(_ seed: Int) throws {
        let words = ["a", "b", "(", ")", ",", "ab", "aa", "a(", "()", "))", "b,", "(a", "bb", "a)", ",a"]
        let tokens = TokenTrie(texts: [nil] + words.map { Array($0.utf8) }, endOfSequence: [0]) { _ in [] }
        let text = Self.grammars[seed % Self.grammars.count]
        let source = try GrammarSource(text)
        let pushdown = try Pushdown(source)
        let slow = SlowGrammar(source, upTo: 7)
        for text in allTexts(of: "ab()", upTo: 3) where slow.beginnings.contains(text) {
            let state = pushdown.state(after: text)
            let mask = pushdown.mask(state, tokens, isStart: text.isEmpty, left: nil).mask
            #expect(mask[0] == slow.texts.contains(text))
            for (token, word) in words.enumerated() {
                let longer = text + Array(word.utf8)
                let isThere = slow.beginnings.contains(longer)
                let after = pushdown.state(after: longer)
                if isThere { #expect(mask[Int32(token + 1)]) }
                if mask[Int32(token + 1)], !isThere {
                    #expect(longer.count + pushdown.fewestBytes(after) > slow.most)
                }
            }
            // With little room, what is left over is what has a way to the end in it.
            for left in 1...4 {
                let some = pushdown.mask(state, tokens, isStart: text.isEmpty, left: left)
                for token in mask.tokens where token > 0 {
                    let after = pushdown.state(after: text + tokens.text(of: token))
                    let plan = pushdown.plan(after, tokens)?.count ?? .max
                    #expect(
                        some.mask[token] == (pushdown.fewestBytes(after) < left || plan < left))
                }
                #expect(some.isLimited == (some.mask != mask))
            }
        }
    }

    /// Where a text may be read in many ways, it is in few places all the same.
    @Test(
        arguments: [
            ("root ::= root root | \"a\"", "a", 40), ("root ::= root \"+\" root | \"a\"", "a+", 40),
            ("root ::= \"a\" root | \"\"", "a", 40),
            ("root ::= x\nx ::= \"a\" y | \"a\"\ny ::= \"a\" x | \"a\"", "a", 40),
            ("root ::= x+\nx ::= \"a\"? x? \"a\"?", "a", 40),
            ("root ::= \"a\" root | \"a\" root \"b\" | \"\"", "a", 700),
        ])
    func longTextsTakeLittleRoom(text: String, part: String, sets: Int) throws {
        let pushdown = try Pushdown(GrammarSource(text))
        let state = pushdown.state(after: String(repeating: part, count: 300).utf8)
        try #require(state >= 0)
        #expect(
            pushdown.sets.count <= sets && pushdown.items(state).count < 8, "\(pushdown.sets.count) sets")
    }

    @Test func bracketsAreClosed() throws {
        let pushdown = try Pushdown(GrammarSource("root ::= \"(\" root \")\" | \"[\" root \"]\" | \"\""))
        let deep = String(repeating: "([", count: 400)
        let state = pushdown.state(after: deep.utf8)
        #expect(pushdown.fewestBytes(state) == 800)
        #expect(pushdown.shortestEnd(state) == Array(String(repeating: "])", count: 400).utf8))
        #expect(pushdown.state(after: (deep + ")").utf8) < 0)
    }
}

/// Makes small grammars of a, b and parentheses, recursive in every way.
struct RandomGrammar {
    private var random: PlainRandom
    private var ruleCount = 1

    init(_ seed: Int) { random = PlainRandom(seed + 1) }

    mutating func grammar() -> GrammarSource {
        ruleCount = Int.random(in: 1...4, using: &random)
        return GrammarSource(
            rules: (0..<ruleCount).map { GrammarSource.Rule(name: "r\($0)", line: $0 + 1, body: node(3)) },
            start: 0)
    }

    private mutating func node(_ depth: Int) -> GrammarNode {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 4), using: &random) {
        case 0: return .text(["a"])
        case 1: return .text(["b"])
        case 2: return .text(Bool.random(using: &random) ? ["a", "("] : [])
        case 3, 4: return .rule(Int.random(in: 0..<ruleCount, using: &random))
        case 5, 6: return .sequence((0..<Int.random(in: 1...3, using: &random)).map { _ in node(depth - 1) })
        case 7, 8:
            return .alternatives((0..<Int.random(in: 1...3, using: &random)).map { _ in node(depth - 1) })
        default:
            let min = Int.random(in: 0...2, using: &random)
            let max = Bool.random(using: &random) ? nil : min + Int.random(in: 0...2, using: &random)
            return .repetition(node(depth - 1), min: min, max: max)
        }
    }
}
