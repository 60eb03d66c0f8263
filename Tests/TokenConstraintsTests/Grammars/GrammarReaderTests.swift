import Testing

@testable import TokenConstraints

/// GBNF as it is read.
@Suite struct GrammarReaderTests {
    private func takes(_ grammar: String, _ texts: [String], not others: [String]) throws {
        let pushdown = try Pushdown(GrammarSource(grammar))
        for text in texts { #expect(pushdown.takes(text), "\(text.debugDescription)") }
        for text in others { #expect(!pushdown.takes(text), "\(text.debugDescription)") }
    }

    private func fault(_ grammar: String) -> String {
        do throws(ConstraintFault) {
            _ = try Pushdown(GrammarSource(grammar))
            return "no fault"
        } catch {
            return error.description
        }
    }

    // MARK: GBNF

    @Test func characters() throws {
        try takes(
            #"root ::= "\x41\u00e9\U0001F600" [a-c\]x-] [^\n-] ."#, ["Aé😀b!日", "Aé😀]]\n", "Aé😀-aa"],
            not: ["Aé😀dab", "Aé😀b-a", "Aé😀b\na", "Aé😀ba"])
        try takes(
            #"root ::= [-+*/] [^\]-] "\t\\\"\[""#,
            ["-a\t\\\"[", "/+\t\\\"["], not: ["-]\t\\\"[", "--\t\\\"["])
        try takes(
            #"root ::= [a\-z] [-az] [az-] [\[\]^]"#, ["-a-^", "a-z]"], not: ["ma-^", "--m^", "aaa\\"])
        try takes("root ::= [ぁ-ん]+", ["ひらがな"], not: ["カ", ""])
        try takes(
            #"root ::= [a\-z] [-az] [az-] [\[\]^\^]"#, ["az-]", "---^", "z-a["], not: ["b--]", "aaab"])
    }

    @Test func linesAndComments() throws {
        try takes(
            """
            # first
            root ::= # what it is
              "a" ( "b" # within
                | "c" ) x |
              "d"
              | "e" # the bar may stand here, too

            x ::= | "x"
            """, ["ab", "acx", "d", "e"], not: ["a", "dx", "b"])
        try takes("root ::= x\r\nx ::= \"a\"\r\n", ["a"], not: ["a\r"])
    }

    @Test func repetitions() throws {
        try takes("root ::= \"ab\"* \"c\"+ \"d\"?", ["c", "ababccd"], not: ["abac", "ab", "cdd"])
        try takes(
            "root ::= \"ab\"{2} x{1,2} [c]{2,} (\"e\"){0,1}\nx ::= \"(\" x \")\" | \"x\"",
            ["ababxcc", "abab(x)xccce"], not: ["abxcc", "ababxxxcc", "ababxc"])
        try takes("root ::= x{0,3}\nx ::= \"(\" x? \")\"", ["", "()", "(())()()"], not: ["()()()()"])
        try takes("root ::= [a]{3,1000} x\nx ::= \"b\" x | \"\"", ["aaab"], not: ["aa"])
    }

    @Test(
        arguments: [
            ("root ::= x", "line 1: x is defined nowhere"), ("x ::= \"a\"", "rule root, with which"),
            ("root ::= \"a\"\n\nroot ::= \"b\"", "line 3: root is defined here and in line 1"),
            ("root ::= \"a", "line 1: the literal that begins in line 1 has no end"),
            ("root ::= [a", "the set that begins in line 1 has no end"),
            ("root ::= []", "holds no character"), ("root ::= [b-a]", "from 'b' down to 'a'"),
            ("root ::= (\"a\"\nb ::= \"b\"", "is a ')' missing"),
            ("root ::= (\"a\"", "the group that begins in line 1 has no ')'"),
            ("root ::= \"a\" )", "')' in the rule root"), ("root ::= \"\\q\"", "the escape \\q is not known"),
            ("root ::= \"\\xg1\"", "2 hexadecimal digits"), ("root ::= \"\\ud800\"", "of no character"),
            ("root ::= \"a\"{2,1}", "from 2 down to 1"),
            ("root ::= \"a\"{x}", "a count such as {2}"), ("root ::= x{99999}\nx ::= \"a\"", "a count above"),
            ("root ::= <think> \"a\"", "line 1: tokens"), ("root ::= *", "'*' in the rule root"),
            ("root ::= \"a\"\n = ", "must begin with its name, but there is '='"),
            ("root = \"a\"", "after the name root must come ::=, but there is '='"),
        ])
    func whatIsWrongInGBNF(grammar: String, part: String) {
        #expect(fault(grammar).contains(part), "\(fault(grammar))")
    }

    @Test func larkIsRefused() {
        for grammar in ["// a list\n?start: item (\",\" item)*", "NAME.2: /[a-z]+/", "%ignore \" \""] {
            #expect(fault(grammar).contains("Lark's notation is not read"))
        }
    }
}
