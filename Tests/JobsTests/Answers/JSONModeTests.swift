import Foundation
import JSON
import Testing
import TokenConstraints

@testable import BatchPipeline
@testable import Jobs

/// Answers that are JSON of any kind.
@Suite struct JSONModeTests {
    private func job(
        _ yaml: String, _ options: KeyValuePairs<String, [String]> = [:]
    ) throws -> JobSettings {
        try JobSettings.parse(
            "model: m\ninput: in.jsonl\noutput: out.jsonl\n" + yaml, name: "job.yaml",
            options: WrittenSetting.all(options))
    }

    private func form(ofLine value: JSONValue) throws -> AnswerFormat? {
        try PromptRecord(fields: ["prompt": "a", "json_mode": value]).form
    }

    @Test func jobsAndLinesAskForIt() throws {
        let forms: [(String, JSONValue, AnswerFormat)] = [
            ("true", true, AnswerFormat.schema(true)), ("object", "object", AnswerFormat.object),
            ("array", "array", AnswerFormat.schema(["type": "array"])),
        ]
        for (word, value, form) in forms {
            #expect(try job("json_mode: \(word)").answerFormat == form)
            #expect(try job("", ["json_mode": [word]]).answerFormat == form)
            #expect(try self.form(ofLine: value) == form)
        }
        #expect(try form(ofLine: "true") == AnswerFormat.schema(true) && form(ofLine: .null) == nil)
        // As OpenAI's API calls it, with the same results.
        let body: JSONValue = ["prompt": "a", "response_format": ["type": "json_object"]]
        #expect(try form(ofLine: "object") == PromptRecord(fields: body).form)
        let values = try ["json_mode: object", "response_format: json_object"].map { yaml in
            try #require(job(yaml).resultSettings.first { $0.value == "json_object" })
        }
        #expect(values.map(\.name) == ["json_mode", "response_format"])
    }

    @Test func whatIsWrongIsNamed() throws {
        for (yaml, message) in [
            ("json_mode: yes", "job.yaml:4: json_mode must be true, object or array"),
            ("json_mode: false", "job.yaml:4: json_mode must be true, object or array"),
            ("json_mode: object\nregex: a", "regex and json_mode both constrain answers"),
            ("json_mode: true\nstop: x", "stop can't be combined with json_mode"),
            ("json_mode: true\ntask: score", "json_mode has no meaning where nothing is generated"),
            ("json_mode: true\nchoices: [a, b]", "json_mode and choices both constrain"),
            ("json_mode: true\nsteps:\n- {name: a, prompt: x}", "json_mode belongs to a step"),
        ] {
            #expect { try job(yaml) } throws: { "\($0)".contains(message) }
        }
        #expect { try form(ofLine: "list") } throws: {
            ($0 as? LineError)?.message == "`json_mode` must be true, object or array, but is a string."
        }
    }

    /// What a line asks for is part of it.
    @Test func itBelongsToTheLine() throws {
        func hash(_ fields: JSONValue) throws -> UInt64 {
            let bytes = Array(JSONWriter.text(of: fields).utf8)
            return try LineScheme(job("")).digest(
                of: InputRecord(bytes, number: 1), nil, LineContent(fields: fields))
        }
        let plain = try hash(["prompt": "a"])
        #expect(try hash(["prompt": "a", "json_mode": .null]) == plain)
        #expect(try hash(["prompt": "a", "json_mode": true]) != plain)
    }

    /// Whatever the model would say, and however little room there is.
    @Test(arguments: ["true", "object", "array"]) func answersAreJSON(word: String) throws {
        let folder = try TestFolder()
        let path = try folder.write((0..<20).map { "{\"prompt\":\"\($0)\"}\n" }.joined(), to: "in.jsonl")
        let form = try #require(try AnswerKey.jsonMode.read(.string(word)))
        for limit in [2, 5, 30] {
            let job = JobSettings.test(input: [path]) { job in
                job.forms[AnswerKey.jsonMode.name] = form
                (job.temperature, job.maxTokens) = (1.5, limit)
            }
            try ScriptedRun.inManyWays(job) { outcome, lines, _ in
                #expect(outcome.status == .complete && outcome.statistics.failed == 0 && lines.count == 20)
                var first: Set<Character> = []
                for line in lines {
                    let text = try #require(try ScriptedRun.row(line).string("text"))
                    _ = try JSONValue(parsing: Array(text.utf8), limits: .line)
                    first.formUnion(text.first.map { [$0] } ?? [])
                }
                switch word {
                case "object": #expect(first == ["{"])
                case "array": #expect(first == ["["])
                default: #expect(first.count > 2)
                }
            }
        }
    }
}
