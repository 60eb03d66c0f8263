import BatchEngine
import Foundation
import JSON
import PhiModel
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Requests that are equal: computed once, with the results that each by itself would have.
@Suite struct EqualRequestTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Each prompt several times, under ids of their own and far apart.
    private static func lines(_ count: Int, times: Int = 3) -> String {
        (0..<times).map { time in
            ScriptedRun.prompts(count).replacing("\"id\":\"", with: "\"n\":\(time),\"id\":\"\(time)-")
        }.joined()
    }

    private static func job(_ path: String, _ change: (inout JobSettings) -> Void = { _ in }) -> JobSettings {
        ScriptedRun.job(path) { job in
            job.temperature = 0
            job.keep = .fields([.init("n")])
            job.maxFailures = .percent(100)
            change(&job)
        }
    }

    /// The same bytes as where each is computed, however they are run.
    /// - Parameter prepare: what the model is like.
    /// - Returns: of each way, how many were copied and how many rows computed; at last those of all by themselves.
    private func compare(
        _ job: JobSettings, _ prepare: (ScriptedModel) -> Void = { _ in }
    ) throws -> (copied: [Int], rows: [Int], outcome: RunOutcome) {
        var each = job
        each.computesEqualsOnce = false
        let model = ScriptedModel()
        prepare(model)
        let (outcome, expected) = try ScriptedRun.run(each, model)
        #expect(outcome.statistics.copied == 0)
        var (copied, rows): ([Int], [Int]) = ([], [])
        for (workers, room) in [(1, Int.max), (32, .max), (5, 400)] {
            let model = ScriptedModel()
            (model.room, model.looksAhead) = (room, false)
            prepare(model)
            var job = job
            job.engine.workers = workers
            let (once, lines) = try ScriptedRun.run(job, model)
            #expect(lines == expected)
            #expect(once.status == .complete)
            #expect(once.statistics.done == outcome.statistics.done)
            #expect(once.statistics.failed == outcome.statistics.failed)
            #expect(once.statistics.failedResults == outcome.statistics.failedResults)
            #expect(once.statistics.finishReasons == outcome.statistics.finishReasons)
            #expect(once.statistics.errors == outcome.statistics.errors)
            copied.append(once.statistics.copied)
            rows.append(model.rows)
        }
        return (copied, rows + [model.rows], outcome)
    }

    @Test func equalLinesAreComputedOnce() throws {
        // What the lines of `prompts` set themselves counts, too; their seeds don't.
        let path = try folder.write(Self.lines(40), to: "in.jsonl")
        let (copied, rows, outcome) = try compare(Self.job(path))
        #expect(copied == [80, 80, 80] && outcome.statistics.done == 120)
        #expect(rows[0] * 3 == rows[3] && rows[1] == rows[0])
    }

    @Test func whatIsDrawnIsComputedForEach() throws {
        let path = try folder.write(Self.lines(20, times: 2), to: "in.jsonl")
        #expect(try compare(Self.job(path) { $0.temperature = 0.8 }).copied == [0, 0, 0])
    }

    @Test func samplesAreComputedOnceWhereTheyCannotDiffer() throws {
        let path = try folder.write(ScriptedRun.prompts(12), to: "in.jsonl")
        let job = Self.job(path) { $0.samples = 4 }
        #expect(try compare(job).copied == [36, 36, 36])
    }

    /// Lines that differ in one thing that an answer depends on.
    @Test func linesThatDifferAreComputed() throws {
        let lines = [
            "", ",\"max_tokens\":9", ",\"max_tokens\":8", ",\"stop\":[\"e\"]", ",\"stop\":[\"n\"]",
            ",\"presence_penalty\":0.5", ",\"frequency_penalty\":0.5", ",\"repetition_penalty\":1.5",
            ",\"logit_bias\":{\"258\":3}", ",\"regex\":\"[a-z]+\"", ",\"regex\":\"[a-f]+\"",
            ",\"choices\":[\"a\",\"b\"]", ",\"choices\":[\"b\",\"a\"]", ",\"temperature\":0.5",
        ].map { "{\"prompt\":\"ask\"\($0)}\n" }
        let path = try folder.write(lines.joined(), to: "in.jsonl")
        let job = JobSettings.test(input: [path]) { $0.maxFailures = .percent(100) }
        let (copied, _, outcome) = try compare(job)
        #expect(copied == [0, 0, 0] && outcome.statistics.failed == 0)
    }

    @Test func failuresAreEachLinesOwn() throws {
        let path = try folder.write(Self.lines(30), to: "in.jsonl")
        // Some break in the middle, and others never fit.
        let (copied, _, outcome) = try compare(Self.job(path)) { model in
            model.isFaulty = { tokens, _ in tokens.count % 11 == 3 }
            model.room = min(model.room, 400)
        }
        #expect(outcome.statistics.failed > 10 && outcome.statistics.done > 10)
        #expect(copied.allSatisfy { $0 > 10 })
        let codes = outcome.statistics.errors
        #expect(codes[.notFinite, default: 0] > 5)
    }

    @Test func answersThatAreNotWhatIsAskedForFailEach() throws {
        let lines = (0..<40).map { "{\"id\":\"l\($0)\",\"prompt\":\"p \($0 % 10)\"}\n" }
        let path = try folder.write(lines.joined(), to: "in.jsonl")
        let pairs: JSONValue = [
            "type": "array", "items": ["enum": [1, 2]], "minItems": 2, "maxItems": 2, "uniqueItems": true,
        ]
        let (copied, _, outcome) = try compare(
            .test(input: [path]) { job in
                job.schema = .schema(pairs)
                job.maxTokens = 12
                job.maxFailures = .percent(100)
            })
        #expect(outcome.statistics.failed > 0 && outcome.statistics.done > 0)
        #expect(copied[0] == outcome.statistics.done * 3 / 4)
    }

    @Test func scoresAndChoicesAreComputedOnce() throws {
        let completions = [#""one""#, #"["one","two"]"#, #"["two","two"]"#, #"["one","two"]"#, #""one""#]
        let scored = completions.flatMap { [$0, $0] }.map { "{\"prompt\":\"p\",\"completion\":\($0)}\n" }
        var path = try folder.write(scored.joined(), to: "scores.jsonl")
        var found = try compare(.test(input: [path]) { $0.task = .score })
        #expect(found.rows[0] < found.rows[3])
        // The line of "two" has one part that is new.
        #expect(found.copied[0] == 8)

        // What is drawn of choices is each line's own, and what the model says of them is not.
        let lines = (0..<60).map { "{\"id\":\"\($0)\",\"prompt\":\"p \($0 % 3)\"}\n" }
        path = try folder.write(lines.joined(), to: "choices.jsonl")
        let choosing = JobSettings.test(input: [path]) { job in
            job.choices = ["yes", "no", "yes and no"]
            job.temperature = 8
            job.samples = 2
        }
        found = try compare(choosing)
        #expect(found.copied == [117, 117, 117] && found.rows[0] * 40 == found.rows[3])
    }

    @Test(arguments: [1, 2, 3, 4]) func stoppedRunsEndWithTheSameResults(seed: UInt64) throws {
        let path = try folder.write(Self.lines(25), to: "in.jsonl")
        let (_, expected) = try ScriptedRun.run(Self.job(path) { $0.computesEqualsOnce = false })
        var copied = 0
        let lines = try ScriptedRun.stopped(Self.job(path), seed: seed, steps: 12) { outcome, _ in
            copied += outcome.statistics.copied
        }
        #expect(copied > 0 && lines == expected)
    }

    /// What is kept of finished ones is bounded.
    @Test func theOldestAreForgotten() throws {
        func request(_ number: Int) -> Request {
            var request = Request(prompt: [Int32(number)], kind: Scoring([1]))
            request.asked = []
            return request
        }
        func key(_ number: Int) throws -> RequestKey {
            try #require(RequestKey(request(number), model: []))
        }
        var equals = EqualRequests(countLimit: 4, weightLimit: 100)
        func isKnown(_ number: Int) throws -> Bool {
            if case .known = equals.answer(to: try key(number), for: .test(number)) { return true }
            return false
        }
        func finish(_ number: Int) throws {
            #expect(try !isKnown(number))
            let request = request(number)
            let ended = EndedRequest(
                request: request, decoding: request.kind.decoding(after: request.prompt), provenance: [:])
            _ = equals.finished(ended, try key(number))
        }
        for number in 1...6 { try finish(number) }
        #expect(try (1...6).map(isKnown) == [false, false, true, true, true, true])
    }
}
