import JSON
import Testing

/// Texts beside what libyaml makes of them.
@Suite struct YAMLValueTests {
    /// A text that stands plain is itself, another one in `<>`.
    private static func text(_ value: YAMLValue?) -> String {
        switch value?.content {
        case .plain(let text): text
        case .quoted(let text): "<\(text)>"
        case .list(let elements): "[" + elements.map { Self.text($0) }.joined(separator: ", ") + "]"
        case .mapping(let members):
            "{" + members.map { "\(text($0.key)): \(text($0.value))" }.joined(separator: ", ") + "}"
        case nil: "none"
        }
    }

    private static func lines(_ value: YAMLValue?) -> [Int?] {
        switch value?.content {
        case .plain, .quoted: [value?.line]
        case .list(let elements): [value?.line] + elements.flatMap { lines($0) }
        case .mapping(let members): [value?.line] + members.flatMap { lines($0.key) + lines($0.value) }
        case nil: []
        }
    }

    @Test(
        arguments: [
            ("a: b c\n  d e\n\n  f\ng: h # i\n", "{a: b c d e\nf, g: h}", [1, 1, 1, 5, 5]),
            (
                "a:\n  b: c\n  d:\n  - 1\n  - x: 1\n    y: 2\n  - - a\n    - b\ne:\nf: -1\n",
                "{a: {b: c, d: [1, {x: 1, y: 2}, [a, b]]}, e: , f: -1}",
                [1, 1, 2, 2, 2, 3, 4, 4, 5, 5, 5, 6, 6, 7, 7, 8, 9, 9, 10, 10]
            ),
            (
                "- a\n-\n  b\n- - c\n- {a: 1, b: [x, y,], c}\n- [{a: b}, c]\n",
                "[a, b, [c], {a: 1, b: [x, y], c: }, [{a: b}, c]]",
                [1, 1, 3, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6]
            ),
            (
                "a: |\n  x\n   y\n\n  z\nb: >-\n  one\n  two\n\n  three\n   more\n  four\n\nc: |+\n  k\n\nd: >\n  sp\n  x\n",
                "{a: <x\n y\n\nz\n>, b: <one two\nthree\n more\nfour>, c: <k\n\n>, d: <sp x\n>}",
                [1, 1, 1, 6, 6, 14, 14, 17, 17]
            ),
            (
                "a: |-\n\n  x # no comment\nb: |\n  y\nc: >\n\n\n  z\n",
                "{a: <\nx # no comment>, b: <y\n>, c: <\n\nz\n>}",
                [1, 1, 1, 4, 4, 6, 6]
            ),
            (
                "a: 'it''s\n  folded\n\n  twice'\nb: \"x\\ty\\u0041  \n  q\\u00e9\"\n",
                "{a: <it's folded\ntwice>, b: <x\tyA q\u{E9}>}",
                [1, 1, 1, 5, 5]
            ),
            (
                "{\"a\": 1, \"b\": [1, {\"c\": null}],\n \"d\": \"x\\ny\", 'e':f, g: , h}",
                "{<a>: 1, <b>: [1, {<c>: null}], <d>: <x\ny>, <e>: f, g: , h: }",
                [1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2]
            ),
            (
                "# c\n---\na: 5\nb: [x]\nc:\n  d: e\n",
                "{a: 5, b: [x], c: {d: e}}",
                [3, 3, 3, 4, 4, 4, 5, 6, 6, 6]
            ),
            ("--- |\n a", "<a>", [1]),
            (
                "a: http://x.y:80/z#f\nb: -x\nc: ?y\nd: :z\n'e f': a'b\"c\n",
                "{a: http://x.y:80/z#f, b: -x, c: ?y, d: :z, <e f>: a'b\"c}",
                [1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
            ),
            ("a:\r\n  b: c\r\nd: e\r\n", "{a: {b: c}, d: e}", [1, 1, 2, 2, 2, 3, 3]),
            ("# only\n# comments\n", "none", []),
            ("", "none", []),
            ("--- text\n", "text", [1]),
        ] as [(String, String, [Int])])
    func readAsByLibyaml(yaml: String, expected: String, lines: [Int]) throws {
        let root = try YAMLValue.root(of: yaml)
        #expect(Self.text(root) == expected)
        // Collections on lines of their own have the line that they begin in.
        #expect(Self.lines(root) == lines)
    }

    @Test(
        arguments: [
            ("a: b: c", 1, "a second key"), ("a: - b", 1, "a list can't begin"),
            ("a: 1\n b: 2", 2, "on one line"),
            ("a:\n\tb: 1", 2, "by a tab"), ("a: [1, 2\nb: 3", 2, "a comma or ]"),
            ("a: {b: 1\n", 2, "a comma or }"),
            ("a: \"x\n", 2, "that begins in line 1 is not closed"), ("a: 'x\n---\n", 2, "not closed"),
            ("a: *x", 1, "can't begin with *"), ("a: &x b", 1, "can't begin with &"),
            ("a: @b", 1, "can't begin with @"), ("? a\n: b", 1, "can't begin with ?"),
            ("a: \"\\q\"", 1, "an unknown escape"), ("a: \"\\ud800\"", 1, "d800"),
            ("a: \"\\u12\"", 1, "4 hexadecimal"),
            ("a: 1\n---\nb: 2", 2, "a second document"),
            ("a: 1\nb: 2\na: 3", 1, "the key a is given more than once"),
            ("- a\nb: c", 2, "belongs to nothing"), ("a: |x\n  y", 1, "begins on the next line"),
            ("%YAML 1.2\n---\na: 1", 1, "can't begin with %"), ("a: !!str 5", 1, "can't begin with !"),
            ("a: |2\n   b", 1, "begins on the next line"), ("a: \"\\x41\"", 1, "an unknown escape"),
            ("a: [b: c]", 1, "[{a: b}]"), ("a: \"\\a\"", 1, "an unknown escape"),
            ("a: 1\nprompt: {{ prompt }}", 2, "must have quotes around it"),
            ("{a: {{ x }}}", 1, "quotes around it"),
            ("a: {% if x %}", 1, "can't begin with %"),
            ("{a: 1,\n b: 2, a: 3}", 1, "the key a is given more than once"),
            ("a: 1\nkey\nb: 2\n", 2, "should be a key"),
            ("a: [,]", 1, "before ,"),
            ("a: \u{1}", 1, "control character"),
            ("a: \u{9B}", 1, "control character"),
            ("a: \"b\" c\n", 1, "quote a text"), ("a:\n    b: 1\n  c: 2\n", 3, "indented further"),
            (String(repeating: "[", count: 100_000), 1, "too deep"),
            (String(repeating: "- ", count: 100_000), 1, "too deep"),
        ] as [(String, Int, String)])
    func faultsNameTheLine(yaml: String, line: Int, part: String) {
        let fault = #expect(throws: JSONFault.self) { try YAMLValue.root(of: yaml) }
        #expect(fault?.line == line)
        #expect(fault?.message.contains(part) == true, "\(fault?.message ?? "")")
    }

    /// JSON is YAML, with its two escapes of one character.
    @Test func jsonIsRead() throws {
        let json = #"{"a":[1,-2.5e3,true,null,"\ud83d\ude00\/\b\u00e9"],"b":{"c":[],"d":{}}}"#
        #expect(
            Self.text(try YAMLValue.root(of: json))
                == "{<a>: [1, -2.5e3, true, null, <\u{1F600}/\u{8}\u{E9}>], <b>: {<c>: [], <d>: {}}}")
    }
}
