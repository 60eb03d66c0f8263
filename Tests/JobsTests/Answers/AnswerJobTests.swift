import BatchEngine
import Foundation
import JSON
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Jobs whose answers have a form, and what comes of answers that don't.
@Suite struct AnswerJobTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Masks can't see to it that items differ: about half of all answers are not what is asked for.
    private static let pairs: JSONValue = [
        "type": "array", "items": ["enum": [1, 2]], "minItems": 2, "maxItems": 2, "uniqueItems": true,
    ]
    private static let rules = Result { try AnswerFormat.schema(pairs).checked() }

    private func job(_ path: String, _ change: (inout JobSettings) -> Void = { _ in }) -> JobSettings {
        .test(input: [path]) { job in
            job.schema = .schema(Self.pairs)
            job.temperature = 1
            job.maxTokens = 12
            change(&job)
        }
    }

    private func lines(_ count: Int) -> String {
        (0..<count).map {
            "{\"id\":\"l\($0)\",\"prompt\":\"\(String(repeating: "p", count: $0 % 9)) \($0)\"}\n"
        }
        .joined()
    }

    private func results(_ lines: [String]) throws -> [JSONValue] {
        // What stood after the beginning of `timing` is cut off.
        try lines.map { line in
            let text = line.contains("\"error\":") ? line : line + "}"
            return try JSONValue(parsing: Array(text.utf8), limits: .line)
        }
    }

    @Test func whatFailsIsGeneratedAnew() throws {
        let path = try folder.write(lines(60), to: "in.jsonl")
        let (outcome, made) = try ScriptedRun.run(job(path) { $0.maxFailures = .percent(100) })
        var (attempts, failures) = (0, 0)
        for result in try results(made) {
            if let error = result["error"] {
                failures += 1
                #expect(error.string("code") == "invalid_answer")
                #expect(error.string("message")?.hasPrefix("None of 4 answers meets the constraint") == true)
                let text = try #require(error.string("text"))
                #expect(try Self.rules.get().problem(with: text)?.contains("#/uniqueItems") == true)
            } else {
                let text = try #require(result.string("text"))
                #expect(try Self.rules.get().problem(with: text) == nil)
                if result["provenance"]?.string("attempts") != nil { attempts += 1 }
            }
        }
        #expect(attempts > 5 && failures > 0 && failures < 15)
        #expect(outcome.statistics.turnedDown > 20 && outcome.statistics.failed == failures)
        // With more retries others come to an end, and those that did before are as they were.
        let (_, more) = try ScriptedRun.run(job(path) { $0.retries = 100 })
        #expect(try results(more).allSatisfy { $0["error"] == nil })
        for (before, now) in zip(made, more) where !before.contains("\"error\"") { #expect(before == now) }
    }

    /// Also in the middle of an attempt, and between two.
    @Test(arguments: [1, 2, 3, 4, 5])
    func interruptedRunsEndWithTheSameResults(seed: UInt64) throws {
        let path = try folder.write(lines(25), to: "in.jsonl")
        // What fails is begun again by each run, which would then never come to an end.
        let change = { (job: inout JobSettings) in job.retries = 100 }
        let (_, expected) = try ScriptedRun.run(job(path, change))
        var random = FixedRandom(seed)
        let store = MemoryStore()
        var saved = 0
        for _ in 0..<200 where store.output == nil {
            let model = ScriptedModel()
            let flag = StopFlag()
            let last = Int.random(in: 1...9, using: &random)
            model.beforeStep = { if $0 == last { flag.set() } }
            let workers = Int.random(in: 1...6, using: &random)
            let job = job(path) {
                change(&$0)
                $0.engine.workers = workers
            }
            _ = try Runner(job: job, model: model, store: store, stopFlag: flag).run()
            saved += store.savedRecords.count { $0.attempt > 0 }
        }
        #expect(store.output?.map(withoutTiming) == expected && saved > 0)
    }

    @Test func withoutChanceThereIsNoSecondAttempt() throws {
        let path = try folder.write(lines(40), to: "in.jsonl")
        let (outcome, made) = try ScriptedRun.run(
            job(path) {
                $0.temperature = 0
                $0.maxFailures = .percent(100)
            })
        let errors = try results(made).compactMap { $0["error"]?.string("message") }
        #expect(!errors.isEmpty && outcome.statistics.turnedDown == 0)
        #expect(errors.allSatisfy { $0.hasSuffix("At temperature 0 a retry would be the same.") })
        let (_, once) = try ScriptedRun.run(
            job(path) {
                $0.retries = 0
                $0.maxFailures = .percent(100)
            })
        let messages = try results(once).compactMap { $0["error"]?.string("message") }
        #expect(messages.first?.hasPrefix("The answer breaks its constraint: ") == true)
    }

    @Test func linesHaveFormsOfTheirOwn() throws {
        let path = try folder.write(
            [
                #"{"id":"regex","prompt":"a","regex":"yes|no"}"#,
                #"{"id":"object","prompt":"a","response_format":{"type":"json_object"},"max_tokens":9}"#,
                #"{"id":"free","prompt":"a"}"#,
                #"{"id":"bad","prompt":"a","schema":{"type":"strin"}}"#,
                #"{"id":"bad again","prompt":"a","schema":{"type":"strin"}}"#,
                #"{"id":"short","prompt":"a","schema":{"const":"0123456789"},"max_tokens":3}"#,
                #"{"id":"stopped","prompt":"a","regex":"yes","stop":"e"}"#,
            ].map { $0 + "\n" }.joined(), to: "in.jsonl")
        let (_, made) = try ScriptedRun.run(
            job(path) {
                $0.schema = nil
                $0.retries = 100
                $0.maxFailures = .count(9)
            })
        let results = try results(made)
        #expect(["yes", "no"].contains(results[0].string("text")))
        #expect(try AnswerFormat.object.checked().problem(with: results[1].string("text") ?? "") == nil)
        #expect(results[2]["error"] == nil)
        #expect(
            results[3...].map { $0["error"]?.string("code") } == [
                "bad_schema", "bad_schema", "max_tokens_too_small", "bad_field",
            ])
        #expect(results[5]["error"]?.string("message")?.contains("at least 12") == true)
        // The job's own goes first, if it is that there is none.
        let (_, free) = try ScriptedRun.run(
            job(path) {
                $0.schema = nil
                $0.responseFormat = .anyText
                $0.maxFailures = .count(9)
            })
        #expect(try self.results(free).allSatisfy { $0["error"] == nil })
    }

    @Test func aJobWithoutAnyAnswerDoesNotStart() throws {
        let path = try folder.write(lines(1), to: "in.jsonl")
        let job = job(path) {
            $0.schema = .schema(["type": "string", "minLength": 3, "maxLength": 2])
        }
        #expect {
            try job.checkAnswers()
        } throws: {
            "\($0)".contains("schema can't be used: ")
        }
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
