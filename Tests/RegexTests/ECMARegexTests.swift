import Regex
import Testing

@Suite struct ECMARegexTests {
    private func matches(_ pattern: String, _ text: String) throws -> Bool? {
        var budget = RegexLimits.visits
        return try ECMARegex(pattern).matches(text, budget: &budget)
    }

    @Test(
        arguments: [
            ("", ["", "a"], []), ("b", ["abc"], ["ac", ""]), ("^b$", ["b"], ["ab", "bc", "b\n"]),
            ("a|^b|c$", ["xa", "bx", "xc"], ["xb", "cx"]), ("^(ab)*$", ["", "abab"], ["aba"]),
            ("^a{2,3}$", ["aa", "aaa"], ["a", "aaaa"]), ("^a{2}$", ["aa"], ["a", "aaa"]),
            ("^a{2,}$", ["aaaa"], ["a"]),
            ("^(a?){3}b$", ["b", "aaab"], ["aaaab"]), ("^(a*)*b$", ["b", "aab"], ["aa"]),
            ("^a+?$", ["aa"], ["b"]),
            (#"^\d\w\s$"#, ["1_ ", "0a\u{FEFF}"], ["١a ", "1é "]), (#"^\D\W\S$"#, ["٣é."], ["1é."]),
            ("^.$", ["💩", "é"], ["\n", "\u{2028}"]),
            ("^[^]$", ["\n"], []), ("[]", [], ["", "a"]), ("^[a-c-]+$", ["a-c"], ["d"]),
            (#"^[\d-x]+$"#, ["1-x"], ["a"]),
            (#"^[\]\\^-]$"#, ["]", "\\", "^", "-"], ["a"]),
            (#"\bfoo\b"#, ["foo", "a foo!"], ["foob", "afoo"]),
            (#"\Boo"#, ["foo"], ["oo"]), (#"^[\b]$"#, ["\u{8}"], ["b"]),
            (#"^\x41\u0042\u{43}\cJ\0$"#, ["ABC\n\0"], ["ABC"]),
            (#"^\uD83D\uDCA9$"#, ["💩"], ["a"]), (#"^[\uD83D\uDC00-\uD83D\uDCFF]$"#, ["💩"], ["é"]),
            (#"^\p{Lu}\p{Letter}\P{L}$"#, ["ÄЖ1"], ["äЖ1", "ÄЖж"]),
            (#"^\p{Uppercase}\p{Emoji}$"#, ["Ä💩"], ["ä💩", "Äé"]),
            (#"^\p{gc=Nd}+$"#, ["12٣"], ["a"]), (#"^[\p{L}\p{N}]+$"#, ["a1"], ["-"]),
            ("^{a}x{,2}$", ["{a}x{,2}"], ["x"]),
            (#"^\/\-\@\"$"#, ["/-@\""], []), ("(?<year>[0-9]{4})", ["in 2026"], ["202"]),
            ("a$b", [], ["ab", "a"]),
            ("x*$^y*", [""], ["x", "zy"]), ("(?:^)+a(?:$)*", ["a", "ab"], ["ba"]),
        ] as [(String, [String], [String])])
    func search(_ pattern: String, _ found: [String], _ missed: [String]) throws {
        for text in found {
            #expect(try matches(pattern, text) == true, "\(pattern) in \(text.debugDescription)")
        }
        for text in missed {
            #expect(try matches(pattern, text) == false, "\(pattern) in \(text.debugDescription)")
        }
    }

    @Test(
        arguments: [
            ("a(?=b)", ConstraintFault.Reason.unsupportedPattern, 1), ("(?<!a)", .unsupportedPattern, 0),
            (#"(a)\1"#, .unsupportedPattern, 3),
            (#"\k<a>"#, .unsupportedPattern, 0), (#"\p{Nonsense}"#, .unsupportedPattern, 0),
            (#"\p{Script=Greek}"#, .unsupportedPattern, 0), (#"\p{gc=}"#, .unsupportedPattern, 0),
            ("(?i)a", .malformed, 0), ("a(", .malformed, 1), ("a)", .malformed, 1), ("[a", .malformed, 0),
            ("*a", .malformed, 0),
            ("a**", .malformed, 2), ("a{2}{3}", .malformed, 4), ("a{3,2}", .malformed, 1),
            ("[z-a]", .malformed, 1),
            (#"\Z"#, .malformed, 0), (#"\a"#, .malformed, 0), (#"\u{110000}"#, .malformed, 0),
            ("\\", .malformed, 0),
            ("^*", .malformed, 1), ("((a{1000}){1000}){1000}", .tooLarge, nil), ("a{9999999}", .tooLarge, 8),
        ] as [(String, ConstraintFault.Reason, Int?)])
    func refusals(_ pattern: String, _ kind: ConstraintFault.Reason, _ offset: Int?) {
        let fault = #expect(throws: ConstraintFault.self) { try ECMARegex(pattern) }
        let place = fault?.problem.split(separator: " at character ").dropFirst().last.flatMap { Int($0) }
        #expect(fault?.kind == kind && place == offset.map { $0 + 1 })
    }

    @Test func evilPatternsTakeTimeInProportion() throws {
        let text = String(repeating: "a", count: 20_000)
        #expect(try matches("^(a+)+$", text + "b") == false)
        #expect(try matches("^(a|aa|a*)*$", text + "b") == false)
        #expect(try matches("(.*a){20}b", text) == false)
        #expect(try matches("^(a?){1000}a{1000}$", String(repeating: "a", count: 1500)) == true)
    }

    @Test(
        arguments: [
            // Pydantic's Decimal.
            (#"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"#, ["1", "+1.5", "-.5", "007"], ["", ".", "-", "+.", "1x"]),
            (#"^(?=.*\d)(?=.*[a-z]).{8,}$"#, ["abcdefg1", "1234567x"], ["abcdefgh", "12345678", "a1"]),
            ("(?!admin$|root$)^[a-z]+$", ["admins", "a"], ["admin", "root", "1"]),
            ("^(?=a)(?!ab)", ["ac", "a"], ["ab", "b"]),
        ])
    func lookaheadsStandAtTheBeginning(pattern: String, taken: [String], refused: [String]) throws {
        for text in taken { #expect(try matches(pattern, text) == true, "\(text)") }
        for text in refused { #expect(try matches(pattern, text) == false, "\(text)") }
    }

    @Test(arguments: ["(?=a)b|c", "(?=a)b", "^(?:(?=a)b)", "^(?=(?!a)b)", "^b(?!a)", "^(?=a)*b", "^(?<=a)b"])
    func lookaheadsElsewhereAreRefused(pattern: String) {
        #expect(throws: ConstraintFault.self) { _ = try ECMARegex(pattern) }
    }

    @Test func aSearchThatTakesTooMuchGivesUp() throws {
        var budget = 100_000
        #expect(
            try ECMARegex(".{0,5000}x.{0,5000}y").matches(
                String(repeating: "x", count: 9000), budget: &budget) == nil)
        #expect(budget < 0)
    }

    /// A beginning after what waits for the next scalar, in the full automaton as well.
    @Test func theFullAutomatonAgrees() throws {
        for (pattern, isFound) in [("x*$^y*", true), ("x$", false), ("^", true), ("b\\B", false)] {
            let program = try RegexProgram([try RegexParser.parse(pattern)])
            var determinizer = Determinizer(
                program, 0, isUsable: [Bool](repeating: true, count: program.classifier.classCount))
            let automaton = try #require(determinizer.run { _, _ in true })
            #expect(
                (automaton.start >= 0 && automaton.isFinal[Int(automaton.start)]) == isFound, "\(pattern)")
        }
    }

    @Test func theTreeIsForOthersToo() throws {
        #expect(
            try RegexParser.parse("^a|b{2,}")
                == .alternatives([
                    .sequence([.assertion(.textStart), .set(.one(0x61))]),
                    .repetition(.set(.one(0x62)), min: 2, max: nil),
                ]))
        #expect(ScalarSet.word.inverted.inverted == .word)
        #expect(ScalarSet([3...5, 1...2, 9...9]).ranges == [1...5, 9...9])
    }
}
