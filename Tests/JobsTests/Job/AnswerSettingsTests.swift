import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

/// How jobs ask for a form of their answers.
@Suite struct AnswerSettingsTests {
    private static let required = "model: m\ninput: in.jsonl\noutput: out.jsonl\n"

    private func job(
        _ yaml: String, _ options: KeyValuePairs<String, [String]> = [:], folder: String = "jobs"
    ) throws -> JobSettings {
        try JobSettings.parse(
            Self.required + yaml, name: "job.yaml", folder: folder, options: WrittenSetting.all(options))
    }

    private func problem(_ yaml: String, _ options: KeyValuePairs<String, [String]> = [:]) -> String {
        settingsProblem(Self.required + yaml, options)
    }

    @Test func formsAreRead() throws {
        let inline = try job(
            """
            schema:
              type: object
              properties:
                a: {type: integer, maximum: 10, const: 1.5, enum: ["1", yes, null, true]}
              required: [a]
            indent: 2
            retries: 0
            """)
        let document: JSONValue = [
            "type": "object",
            "properties": [
                "a": ["type": "integer", "maximum": 10, "const": 1.5, "enum": ["1", "yes", nil, true]]
            ],
            "required": ["a"],
        ]
        #expect(inline.answerFormat == AnswerFormat.schema(document))
        #expect(inline.indent == 2 && inline.retries == 0)
        #expect(try job("schema: true").answerFormat == AnswerFormat.schema(true))
        #expect(try job("response_format: json_object").answerFormat == AnswerFormat.object)
        #expect(try job("response_format: {type: text}").answerFormat?.isConstraint == false)
        let format = "response_format: {type: json_schema, json_schema: {name: n, schema: {type: integer}}}"
        #expect(try job(format).answerFormat == AnswerFormat.schema(["type": "integer"]))
        #expect(try job("regex: 'yes|no'").answerFormat == AnswerFormat.regex("yes|no"))
        let option = try job(
            "", ["response_format": [#"{"type":"json_schema","json_schema":{"schema":{}}}"#]])
        #expect(option.answerFormat == AnswerFormat.schema([:]))
        #expect(try job("").answerFormat == nil)
    }

    @Test func filesAreReadBesideTheJob() throws {
        let folder = try TestFolder()
        _ = try folder.write(#"{"type": "integer"}"#, to: "s.json")
        let read = try job("schema: s.json", folder: folder.path)
        #expect(read.answerFormat == AnswerFormat.schema(["type": "integer"]))
        #expect(try job("schema: s.json", folder: folder.path) == read)
        #expect(throws: UserError.self) { try job("schema: other.json", folder: folder.path) }
        _ = try folder.write(#"{"type": "integer",}"#, to: "s.json")
        #expect {
            _ = try job("schema: s.json", folder: folder.path)
        } throws: {
            "\($0)".contains("job.yaml:4: schema \(folder.path)/s.json is not valid JSON")
        }
        _ = try folder.write(#"{"type": "integr"}"#, to: "s.json")
        #expect {
            _ = try job("schema: s.json", folder: folder.path)
        } throws: {
            "\($0)".contains("schema \(folder.path)/s.json can't be used: #/type")
        }
    }

    /// What the file is called makes no difference to results, what it says does.
    @Test func theContentBelongsToTheFingerprint() throws {
        let folder = try TestFolder()
        func value(_ text: String, _ name: String) throws -> String? {
            _ = try folder.write(text, to: name)
            return try job("schema: \(name)", folder: folder.path).resultSettings
                .first { $0.name == "schema" }?.value
        }
        let first = try value(#"{"type": "integer"}"#, "a.json")
        #expect(try value(#"{"type":"integer"}"#, "b.json") == first && first != nil)
        #expect(try value(#"{"type":"number"}"#, "a.json") != first)
        let names = Set(JobKey.answers.map(\.name))
        #expect(try !job("").resultSettings.contains { names.contains($0.name) })
    }

    @Test func whatDoesNotGoTogetherIsRefused() {
        #expect(problem("schema: {}\nregex: a").contains("schema and regex both constrain"))
        #expect(
            problem("regex: a", ["response_format": ["text"]]).contains(
                "response_format and regex both constrain"))
        #expect(problem("schema: {}\nstop: x").contains("stop can't be combined with schema"))
        #expect(problem("regex: a\nignore_eos: true").contains("ignore_eos can't be combined with regex"))
        #expect(problem("response_format: text\nstop: x").isEmpty)
        for key in ["schema: {}", "regex: a", "indent: 2", "retries: 1", "response_format: text"] {
            #expect(problem("task: score\n" + key).contains("has no meaning where nothing is generated"))
        }
    }

    @Test func wrongValuesAreNamed() {
        #expect(problem("schema: [1]").contains("job.yaml:4: schema must be"))
        #expect(problem("regex: '('").contains("regex can't be used: The regular expression has"))
        #expect(problem("regex: 5").contains("put it in quotes"))
        #expect(problem("indent: 17").contains("indent must be"))
        #expect(problem("retries: 101").contains("retries must be"))
        #expect(problem("response_format: xml").contains("response_format must be"))
        #expect(problem("response_format: {type: xml}").contains("response_format must have"))
        #expect(problem("schema: {a: {1: 2, [x]: 3}}").contains("a key that is no string"))
        #expect(problem("schema: {typ: object}").contains("Did you mean type?"))
    }
}
