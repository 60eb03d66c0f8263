import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

private let schema: JSONValue = ["type": "integer"]
private let grammar = "root ::= \"[\" root? \"]\""

/// How lines ask for a form of their answers.
@Suite struct AnswerFormatTests {
    private func form(_ name: String, _ value: JSONValue) throws -> AnswerFormat? {
        try PromptRecord(fields: .object(JSONObject([("prompt", "a"), (name, value)]))).form
    }

    private func problem(_ fields: JSONValue) -> String {
        do throws(LineError) {
            _ = try PromptRecord(fields: fields)
            return "no error"
        } catch { return error.message }
    }

    @Test(
        arguments: [
            ("response_format", ["type": "text"], .anyText),
            ("response_format", ["type": "json_object"], .object),
            (
                "response_format",
                [
                    "type": "json_schema",
                    "json_schema": ["name": "n", "schema": schema, "strict": true, "description": "d"],
                ], .schema(schema)
            ),
            (
                "response_format",
                ["type": "json_schema", "name": "n", "schema": schema, "strict": nil], .schema(schema)
            ),
            // Any value, and none.
            ("schema", schema, .schema(schema)), ("schema", true, .schema(true)),
            ("schema", false, .schema(false)),
            // Tables, as questions about databases have them.
            ("schema", "CREATE TABLE t (a int)", nil), ("schema", ["t"], nil),
            ("regex", "x+", .regex("x+")), ("regex", nil, nil),
            ("grammar", .string(grammar), .grammar(grammar)),
            ("grammar", "?start: \"a\"", .grammar("?start: \"a\"")),
            ("grammar", "The grammar is good: start here.", nil), ("grammar", "", nil), ("grammar", 1, nil),
            ("grammar", ["root"], nil),
            ("json_mode", true, .schema(true)), ("json_mode", "true", .schema(true)),
            ("json_mode", "object", .object), ("json_mode", "array", .schema(["type": "array"])),
            ("json_mode", nil, nil),
        ] as [(String, JSONValue, AnswerFormat?)])
    func formsAreRead(name: String, value: JSONValue, expected: AnswerFormat?) throws {
        #expect(try form(name, value) == expected)
    }

    @Test(
        arguments: [
            (["regex": 1], "`regex` must be a string"),
            (["response_format": [:]], "`response_format` needs `type`"),
            (["regex": "x", "schema": [:]], "`schema` and `regex` both"),
            (["regex": "x", "grammar": .string(grammar)], "`regex` and `grammar` both"),
            (["grammar": "answer.gbnf"], "`grammar` must be a grammar's text"),
            (["json_mode": "list"], "`json_mode` must be true, object or array, but is a string."),
        ] as [(JSONValue, String)])
    func whatIsWrongIsSaid(fields: JSONValue, message: String) {
        #expect(problem(fields).hasPrefix(message))
    }

    @Test(
        arguments: [
            ("text", "must be an object"), ([:], "needs `type`"), (["type": "xml"], "must have text"),
            (["type": "text", "schema": [:]], "has `schema`"),
            (["type": "json_schema"], "needs `json_schema`"),
            (["type": "json_schema", "json_schema": ["name": "n"]], "has no `schema`"),
            (["type": "json_schema", "json_schema": ["schema": "x"]], "must be a JSON Schema"),
            (["type": "json_schema", "json_schema": ["schema": [:], "strict": 1]], "has a `strict`"),
            (["type": "json_schema", "json_schema": ["schema": [:], "name": 1]], "has a `name`"),
            (["type": "json_schema", "json_schema": ["schema": [:], "grammar": ""]], "has `grammar`"),
        ] as [(JSONValue, String)])
    func wrongResponseFormatsAreNamed(value: JSONValue, part: String) {
        #expect {
            _ = try AnswerFormat.of(responseFormat: value)
        } throws: {
            ($0 as? SettingProblem)?.message.hasPrefix(part) == true
        }
    }

    /// Names that are equal to Swift are not equal here.
    @Test func formsDifferByTheirBytes() {
        let composed = AnswerFormat.regex("\u{e9}")
        #expect(composed != .regex("e\u{301}") && composed.fingerprint.utf8.count > 0)
        #expect(AnswerFormat.schema(["a": 1, "b": 2]) != .schema(["b": 2, "a": 1]))
        #expect(AnswerFormat.regex("{}") != .schema([:]))
        let (a, b) = (AnswerFormat.grammar("root ::= \"a\""), AnswerFormat.grammar("root ::= \"b\""))
        #expect(a != b && a.fingerprint != b.fingerprint && a.fingerprint.hasPrefix("sha256 "))
    }

    /// What a line asks for is part of it.
    @Test func formsBelongToTheLine() throws {
        func hash(_ name: String, _ value: JSONValue) throws -> UInt64 {
            let fields: JSONValue = .object(JSONObject([("prompt", "a"), (name, value)]))
            return try LineScheme(JobSettings()).digest(
                of: InputRecord(Array(JSONWriter.text(of: fields).utf8), number: 1), nil,
                LineContent(fields: fields))
        }
        let plain = try hash("json_mode", nil)
        #expect(try hash("json_mode", true) != plain && hash("grammar", "good") == plain)
        #expect(try hash("grammar", "root ::= \"a\"") != hash("grammar", "root ::= \"b\""))
    }
}
