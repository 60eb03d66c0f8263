import BatchEngine
import Foundation
import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Outputs that have the data alone.
@Suite struct LeanResultsTests {
    private static let choice = GenerationResult.answer("no", [("yes", 0.25), ("no", 0.75)])
    private static let steps: [JSONMember] = [
        .step("question", .answer("Why, \"bee\"?")),
        .step("facts", .answer("{ \"a\": 1.50,\n\"text\": [] }\n")), .step("judge", choice),
    ]

    private func encoded(
        _ result: GenerationResult, _ format: ResultFormat = .lean, samples: Int = 1
    ) -> String {
        var result = result
        result.kept = ["topic": "bees"]
        let key = ResultKey(id: "a", sample: samples - 1, contentHash: 1)
        return format.text(of: result, key, samples: samples)
    }

    @Test func aLineHasTheDataAlone() {
        let (sure, even) = (GenerationResult.score([0]), GenerationResult.score([0, 0]))
        let made: [(GenerationResult, String)] = [
            (.answer("{\"a\": 1}"), #""text":"{\"a\": 1}""#),
            (Self.choice, #""text":"no","probabilities":{"yes":0.25,"no":0.75}"#),
            (.scores([sure], isList: false, promptTokens: 3), #""logprob":0,"mean":0,"perplexity":1"#),
            (
                .scores([sure, even], isList: true, promptTokens: 3),
                #""scores":[{"logprob":0,"mean":0,"perplexity":1},{"logprob":0,"mean":0,"perplexity":1}],"best":0"#
            ),
            (
                .row(Self.steps, item: [1]),
                #""question":"Why, \"bee\"?","facts":{"a":1.50,"text":[]},"#
                    + #""judge":{"text":"no","probabilities":{"yes":0.25,"no":0.75}},"item":[1]"#
            ),
        ]
        let timing: JSONObject = ["queued": 1, "prefill": 1, "decode": 1, "tokens_per_second": 1]
        for (var result, data) in made {
            result.timing = timing
            #expect(encoded(result) == "{\"id\":\"a\",\"topic\":\"bees\",\(data)}\n")
            #expect(encoded(result, samples: 2) == "{\"id\":\"a\",\"sample\":1,\"topic\":\"bees\",\(data)}\n")
        }
        var dropped = GenerationResult.row(Self.steps, dropped: "judge")
        dropped.timing = timing
        #expect(encoded(dropped).isEmpty)
        let failure = GenerationResult.failure(LineError(.badField, "Not so."), line: 4, text: "x")
        let error = #"{"code":"bad_field","message":"Not so.","line":4,"text":"x"}"#
        #expect(encoded(failure) == "{\"id\":\"a\",\"topic\":\"bees\",\"error\":\(error)}\n")
    }

    // MARK: Stores

    private func open(_ folder: TestFolder) throws -> LogStore { try openStore(folder, format: .lean) }

    private func expected(_ lines: [TestLine]) -> String {
        lines.map { line in
            line.fails
                ? "{\"id\":\"\(line.id)\",\"error\":{\"code\":\"bad_field\",\"message\":\"no \(line.content)\",\"line\":1}}\n"
                : "{\"id\":\"\(line.id)\",\"text\":\"re: \(line.content)\"}\n"
        }.joined()
    }

    @Test func runsGoOn() throws {
        var lines = TestLine.make(20)
        lines[4].fails = true
        let folder = try TestFolder()
        let first = try open(folder)
        try TestRun(lines: lines, limit: 9).run(first)
        try first.suspend()
        try TestRun(lines: lines).run(open(folder))
        #expect(try folder.text("out.jsonl") == expected(lines))
        #expect(try folder.names == ["out.jsonl"])
        // The same failure is no change.
        let again = try open(folder)
        #expect(try TestRun(lines: lines, redoesFailed: false).run(again) == 0)
        #expect(!again.didReplaceOutput && again.notes.isEmpty)
        lines.edit()
        #expect(try TestRun(lines: lines).run(open(folder)) == 3)
        #expect(try folder.text("out.jsonl") == expected(lines))
        let path = folder.path("out.jsonl")
        #expect(try folder.faults() == [])
        #expect(try FinishedOutput(path)?.format().name == "jsonl+lean")
        let status = try JobStatus(output: path)
        #expect(status.done == 20 && status.failed == 1 && status.completionTokens == 7 * 19)
        // Another look at the same results.
        #expect(try TestRun(lines: lines, redoesFailed: false).run(openStore(folder)) == 0)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
    }

    // MARK: Settings

    private static let required = "model: m\ninput: in.jsonl\n"

    @Test(
        arguments: [
            ("output: o.csv\nresults: lean", "output_format csv has no place for results: lean"),
            ("output: o.jsonl\noutput_format: openai\nresults: lean", "openai has no place"),
            ("output: o.jsonl\nresults: lean\ntokens: true", "no place for tokens"),
            ("output: o.jsonl\nresults: lean\nsteps:\n- {name: a, prompt: x, logprobs: 1}", "for logprobs"),
            ("output: o.csv\nsteps:\n- {name: a, prompt: x, tokens: true}", "csv has no column for tokens"),
            ("output: o.csv\nsteps:\n- {name: a, task: score}", "csv has no columns"),
            ("output: o.jsonl\nresults: short", "results must be"),
            ("output: o.jsonl\nerrors: e.jsonl\nresults: messages", "leaves failed lines out"),
            ("output: o.json\nchat: false\nresults: messages", "json+messages needs conversations"),
            ("output: o.jsonl\ntask: score\nresults: messages", "needs answers in text"),
            (
                "output: o.jsonl\nresults: messages\nsteps:\n- {name: a, prompt: x, choices: [b, c]}",
                "answers in text"
            ),
            ("output: o.jsonl\nkeep: [messages]\nresults: messages", "has messages of its own"),
        ])
    func whatDoesNotGoIsRefused(_ yaml: String, _ message: String) throws {
        let error = #expect(throws: UserError.self) {
            var job = try JobSettings.parse(Self.required + yaml)
            job.chooseOutputFormat()
            try job.checkOutputFormat(file: "job.yaml")
        }
        #expect(error.map { "\($0)" }?.contains(message) == true, "\(error as Any)")
    }

    @Test func theFormatIsThatOfTheName() throws {
        for (yaml, name) in [
            ("output: o.jsonl", "jsonl+lean"), ("output: o.json", "json+lean"),
            ("output: o\noutput_format: json", "json+lean"),
            ("output: o.json\nerrors: e.json", "json+lean+errors"),
            ("output: o\nerrors: e.jsonl", "jsonl+lean+errors"),
        ] {
            var job = try JobSettings.parse(Self.required + yaml + "\nresults: lean")
            let settings = job.resultSettings.map(\.name)
            for _ in 0..<2 { job.chooseOutputFormat() }
            try job.checkOutputFormat(file: nil)
            try job.checkOutputNames()
            #expect(job.outputFormat.nameInLog == name && !settings.contains("results"))
        }
    }
}
