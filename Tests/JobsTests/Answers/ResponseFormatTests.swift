import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct ResponseFormatTests {
    private static let schema: JSONValue = ["type": "integer"]

    @Test func formsAreRead() throws {
        #expect(try AnswerFormat.of(responseFormat: ["type": "text"]) == .anyText)
        #expect(try AnswerFormat.of(responseFormat: ["type": "json_object"]) == AnswerFormat.object)
        let described: JSONValue = [
            "name": "n", "schema": Self.schema, "strict": true, "description": "d",
        ]
        let nested: JSONValue = ["type": "json_schema", "json_schema": described]
        #expect(try AnswerFormat.of(responseFormat: nested) == AnswerFormat.schema(Self.schema))
        let flat: JSONValue = ["type": "json_schema", "name": "n", "schema": Self.schema, "strict": nil]
        #expect(try AnswerFormat.of(responseFormat: flat) == AnswerFormat.schema(Self.schema))
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
    func whatIsWrongIsSaid(value: JSONValue, part: String) {
        #expect {
            _ = try AnswerFormat.of(responseFormat: value)
        } throws: {
            ($0 as? SettingProblem)?.message.hasPrefix(part) == true
        }
    }

    /// Names that are equal to Swift are not equal here.
    @Test func formsDifferByTheirBytes() {
        let composed = AnswerFormat.regex("\u{e9}")
        let decomposed = AnswerFormat.regex("e\u{301}")
        #expect(composed != decomposed && composed.fingerprint.utf8.count > 0)
        #expect(AnswerFormat.schema(["a": 1, "b": 2]) != AnswerFormat.schema(["b": 2, "a": 1]))
        #expect(AnswerFormat.regex("{}") != AnswerFormat.schema([:]))
    }
}
