import Testing

@testable import TokenConstraints

/// Grammars that are there to take long, or to be taken wrongly.
@Suite struct HostileGrammarTests {
    private func refusal(_ grammar: String) -> ConstraintFault? {
        do throws(ConstraintFault) {
            _ = try AnswerGrammar(GrammarSource(grammar), tokens: .ofBytes)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            ("root ::= \"a\" root", 1), ("root ::= x\n\nx ::= \"(\" y \")\"\ny ::= x", 3),
            ("root ::= root", 1),
            ("root ::= \"a\" | b\nb ::= b \"c\"", 2),
        ])
    func rulesWithoutTextsAreRefused(grammar: String, line: Int) throws {
        let fault = try #require(refusal(grammar))
        #expect(fault.kind == .unsatisfiable && fault.problem.contains("would be endless"))
        #expect(fault.problem.hasPrefix("line \(line): "), "\(fault)")
    }

    @Test(
        arguments: [
            // Doubles 50 times.
            "root ::= r50\n" + (1...50).map { "r\($0) ::= r\($0 - 1) r\($0 - 1)\n" }.joined()
                + "r0 ::= \"a\"",
            "root ::= \"a\" (x{10000}){10000}\nx ::= \"(\" x \")\" | \"b\"",
            "root ::= " + String(repeating: "(", count: 200) + "\"a\"" + String(repeating: ")", count: 200),
            "root ::= \"" + String(repeating: "a", count: 1 << 20) + "\"",
            // It ended the process.
            "root ::= \"a\"" + String(repeating: "?", count: 100_000),
        ])
    func whatIsTooLargeIsRefused(_ grammar: String) throws {
        let fault = try #require(refusal(grammar))
        #expect(fault.kind == .tooLarge, "\(fault)")
    }

    /// Each took a minute and more, or gigabytes.
    @Test(
        arguments: [
            "root ::= \"" + String(repeating: "abcd", count: 60_000) + "\"",
            "root ::= " + (0..<15_000).map { "\"w\($0)x\($0 * 7919 % 100_003)\"" }.joined(separator: " | "),
            "root ::= " + String(repeating: "(\"a\" | ", count: 95)
                + (0..<15_000).map { "\"w\($0)\"" }.joined(separator: " | ")
                + String(repeating: ")", count: 95),
        ])
    func largeGrammarsAreQuick(_ grammar: String) throws {
        let effort = CompileEffort()
        let compiled = try AnswerGrammar(GrammarSource(grammar), tokens: .ofBytes, effort: effort)
        #expect(!effort.isUsedUp && compiled.leastTokens > 0)
    }

    @Test func whatTakesTooMuchIsToldSo() throws {
        let many = (0..<9_000).map { "\"w\($0)x\" root? \"z\"" }.joined(separator: " | ")
        let fault = refusal("root ::= " + many)
        #expect(fault?.kind == .tooLarge && fault?.problem.contains("256 MB") == true)
    }

    /// What is not the shortest may be as long as it likes.
    @Test func longAlternativesAreLeftOut() throws {
        let doubled = (1...50).map { "r\($0) ::= r\($0 - 1) r\($0 - 1)\n" }.joined()
        let grammar = try AnswerGrammar(
            GrammarSource("root ::= \"b\" | \"c\" r50\n" + doubled + "r0 ::= \"a\" | \"(\" r0 \")\""),
            tokens: .ofBytes)
        var constraint = grammar.constraint(maxTokens: 1_000)
        #expect(constraint.allowed().tokens == [Int32(UInt8(ascii: "b"))])
        let isAccepted = constraint.accept(Int32(UInt8(ascii: "b")))
        #expect(isAccepted && constraint.isComplete)
    }

    @Test(
        arguments: [
            "root ::= (\"\")*", "root ::= (a*)*\na ::= \"\" | a a",
            "root ::= a\na ::= b\nb ::= a | \"x\" | \"\"",
            "root ::= ((\"a\"*)*)* b\nb ::= b b | \"\"",
        ])
    func emptyLoopsComeToAnEnd(_ grammar: String) throws {
        let pushdown = try Pushdown(GrammarSource(grammar))
        #expect(pushdown.takes("") && !pushdown.takes("y"))
    }

    @Test func manyReadingsAreOne() throws {
        let pushdown = try Pushdown(
            GrammarSource("root ::= s\ns ::= s s s | s s | x\nx ::= \"a\" | \"(\" s \")\" | \"(\" s s \")\""))
        let text = String(repeating: "(a(aa)a)", count: 200)
        #expect(pushdown.takes(text) && !pushdown.takes(text + "("))
        #expect(pushdown.visits < 1_000_000, "\(pushdown.visits)")
    }

    /// Two readings at each level, and each must be kept: not two to the power of the levels.
    @Test func levelsOfReadingsAreMerged() throws {
        let pushdown = try Pushdown(
            GrammarSource("root ::= x\nx ::= \"(\" a | \"(\" b | \"\"\na ::= x \")\"\nb ::= x \"]\""))
        let text = String(repeating: "(", count: 300)
        let state = pushdown.state(after: text.utf8)
        #expect(pushdown.items(state).count < 10)
        #expect(pushdown.takes(text + String(repeating: ")]", count: 150)))
    }

    /// Each place may be the middle: as many ways as there are bytes. Beyond a bound the answer is brought to its end.
    @Test func palindromesComeToAnEnd() throws {
        let source = try GrammarSource("root ::= \"a\" root \"a\" | \"b\" root \"b\" | \"\"")
        let pushdown = try Pushdown(source)
        let state = pushdown.state(after: String(repeating: "a", count: 2_400).utf8)
        #expect(pushdown.isDeep(state) && pushdown.isFinal(state))
        // The shortest way on is none.
        #expect(pushdown.shortestEnd(state).isEmpty)
    }

    @Test func manyRulesAreTaken() throws {
        let chain = (0..<5_000).map { "r\($0) ::= \"a\" r\($0 + 1) | \"(\" r\($0) \")\"\n" }.joined()
        let grammar = try AnswerGrammar(
            GrammarSource("root ::= r0\n" + chain + "r5000 ::= \"b\""), tokens: .ofBytes)
        #expect(grammar.leastTokens == 5_001)
        let list = (0..<2_000).map { "\"word\($0)\" x" }.joined(separator: " | ")
        let pushdown = try Pushdown(GrammarSource("root ::= " + list + "\nx ::= \"(\" x \")\" | \"\""))
        #expect(pushdown.takes("word1999(())") && !pushdown.takes("word2000"))
    }

    /// Any text is a grammar, or says why it is none.
    @Test(arguments: 0..<200) func noiseIsRefused(_ seed: Int) throws {
        var random = PlainRandom(seed)
        let signs = [
            "root ::= ", "\"a\"", "[a-b]", "(", ")", "|", "*", "{2}", "\n", "x", "::=", ":",
            "\\", "\"", "-", "X", "é", "\u{0}",
        ]
        for _ in 0..<50 {
            let text =
                "root ::= "
                + (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                    signs.randomElement(using: &random)
                }
                .joined()
            if let fault = refusal(text) { #expect(!fault.problem.isEmpty) }
        }
    }
}
