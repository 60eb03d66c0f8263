import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

/// How jobs ask for a form of their answers.
@Suite struct AnswerSettingsTests {
    private func job(
        _ yaml: String, _ options: KeyValuePairs<String, [String]> = [:], folder: String = "jobs"
    ) throws -> JobSettings { try .sample(yaml, folder: folder, options: options) }

    private func problem(_ yaml: String, _ options: KeyValuePairs<String, [String]> = [:]) -> String {
        JobSettings.problem(yaml, options)
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
        for (word, form): (String, AnswerFormat) in [
            ("true", .schema(true)), ("object", .object), ("array", .schema(["type": "array"])),
        ] {
            #expect(try job("json_mode: \(word)").answerFormat == form)
            #expect(try job("", ["json_mode": [word]]).answerFormat == form)
        }
        let grammar = try job("grammar: |\n  root ::= \"a\" root\n    | \"b\"\n")
        #expect(grammar.answerFormat == AnswerFormat.grammar("root ::= \"a\" root\n  | \"b\"\n"))
    }

    @Test func grammarsAreReadFromFiles() throws {
        let folder = try TestFolder()
        let path = try folder.write("root ::= \"[\" root? \"]\"", to: "g.gbnf")
        let file = try job("grammar: g.gbnf", folder: folder.path)
        #expect(file.answerFormat == AnswerFormat.grammar("root ::= \"[\" root? \"]\""))
        #expect(file.sources.contains { $0.path == path })
        #expect(throws: UserError.self) { try job("grammar: none.gbnf", folder: folder.path) }
        _ = try folder.write("root ::= x\n\nx ::= y\n", to: "g.gbnf")
        #expect { try job("grammar: g.gbnf", folder: folder.path) } throws: {
            "\($0)".contains("grammar \(path) can't be used: line 3: y is defined nowhere.")
        }
        _ = try folder.write("root ::= \"a\" root\n", to: "g.gbnf")
        let endless = try job("grammar: g.gbnf", folder: folder.path)
        #expect { try endless.checkAnswers() } throws: {
            "\($0)".contains(
                "grammar \(path) can't be used: line 1: each text of the rule root would be endless")
        }
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
        for key in ["json_mode", "response_format"] {
            let word = key == "json_mode" ? "object" : "json_object"
            let values = try job("\(key): \(word)").resultSettings
            #expect(values.contains { $0.name == key && $0.value == "json_object" })
        }
        let names = Set(JobKey.answers.map(\.name))
        #expect(try !job("").resultSettings.contains { names.contains($0.name) })
    }

    @Test(arguments: [
        ("schema: {}\nregex: a", "schema and regex both constrain"),
        ("regex: a\nresponse_format: text", "response_format and regex both constrain"),
        ("json_mode: object\nregex: a", "regex and json_mode both constrain answers"),
        ("regex: a\ngrammar: 'root ::= \"a\"'", "regex and grammar both constrain answers"),
        ("choices: [a, b]\ngrammar: 'root ::= \"a\"'", "grammar and choices both constrain"),
        ("json_mode: true\nchoices: [a, b]", "json_mode and choices both constrain"),
        ("json_mode: true\nsteps:\n- {name: a, prompt: x}", "json_mode belongs to a step"),
        ("schema: {}\nstop: x", "stop can't be combined with schema"),
        ("json_mode: true\nstop: x", "stop can't be combined with json_mode"),
        ("regex: a\nignore_eos: true", "ignore_eos can't be combined with regex"),
    ])
    func whatDoesNotGoTogetherIsRefused(yaml: String, message: String) {
        #expect(problem(yaml).contains(message))
    }

    @Test(arguments: [
        "schema: {}", "regex: a", "indent: 2", "retries: 1", "response_format: text", "json_mode: true",
    ])
    func scoresHaveNoForm(key: String) {
        #expect(problem("task: score\n" + key).contains("has no meaning where nothing is generated"))
    }

    @Test func wrongValuesAreNamed() {
        #expect(problem("response_format: text\nstop: x").isEmpty)
        for word in ["yes", "false"] {
            let right = "job.yaml:4: json_mode must be true, object or array"
            #expect(problem("json_mode: \(word)").contains(right))
        }
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
