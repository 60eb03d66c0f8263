import BatchEngine
import Foundation
import JSON
import PhiModel
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Jobs with steps whose output has a part of each result, or is a table, over a scripted model: what needs whole results
/// has them from the record.
@Suite struct LeanJobTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write(lines: Self.lines)
    }

    private static let outputs = [
        "out.jsonl", "out.json", "out.csv", "messages.jsonl", "messages.json", "out.csv.zst",
        "messages.json.gz",
    ]
    /// These take DuckDB's program.
    private static let tables = (try? DuckDB.program()) == nil ? [] : ["out.parquet", "messages.parquet"]

    private static let lines = (0..<40).map {
        let topic = $0 / 2 * 7 % 40
        return
            "{\"id\":\"r\($0)\",\"topic\":\"\(String(repeating: "thing ", count: topic % 9))\(topic)\",\"n\":\($0)}"
    }

    private func job(_ output: String, _ change: (inout JobSettings) -> Void = { _ in }) throws -> JobSettings
    {
        var job = JobSettings.test(input: [folder.path("in.jsonl")]) { job in
            (job.temperature, job.maxTokens, job.seed) = (0.9, 24, 7)
            job.output = folder.path(output)
            job.results =
                output.contains(".csv") || output == "out.parquet"
                ? .full : output.hasPrefix("messages") ? .messages : .lean
            job.keep = .fields([.init("topic")])
            job.maxFailures = .percent(100)
            job.steps = [
                JobStep.named("question") { step in
                    step.settings.prompt = "Ask about {{ topic }}."
                    step.settings.request.temperature = 0
                    step.distinct = Distinctness("question.text ~ question.finish_reason")
                },
                JobStep.named("judge") { step in
                    step.settings.prompt = "{{ question.text }} {{ n }}"
                    step.settings.choices = ["yes", "no", "perhaps"]
                    step.accept = "judge.probabilities.no < 0.5"
                },
                JobStep.named("answer") { $0.settings.prompt = "{{ question.text }} {{ judge.text }}" },
            ]
            change(&job)
        }
        try job.check(file: nil)
        job.chooseOutputFormat()
        try job.checkOutputFormat(file: nil)
        return job
    }

    @discardableResult
    private func run(_ job: JobSettings, stoppingAt step: Int = .max) throws -> RunOutcome {
        try ScriptedRun.run(job, stoppingAt: step)
    }

    private func output(_ job: JobSettings) throws -> String {
        String(decoding: try ByteSource(path: job.output).readAll(limit: .max), as: UTF8.self)
    }

    /// What a run makes where nothing is there.
    private func fresh(_ job: JobSettings) throws -> String {
        var job = job
        job.output = folder.path("fresh-" + URL(filePath: job.output).lastPathComponent)
        for end in ["", ".log"] {
            try? FileManager.default.removeItem(atPath: job.output + end)
        }
        #expect(try run(job).status == .complete)
        return try output(job)
    }

    private func verify(_ job: JobSettings, lines: Int) throws -> Verification {
        try ScriptedRun.verification(job, lines: lines)
    }

    /// Stopped again and again, and more of it wanted later, it is the same; and all that looks at it agrees.
    @Test(arguments: outputs) func rowsAreDecidedAgainstThoseThatAreThere(name: String) throws {
        try checkDecisions(name)
    }

    @Test(.enabled(if: !tables.isEmpty, "DuckDB's program is not there (no network?)"), arguments: tables)
    func rowsOfTablesAreDecidedLikewise(name: String) throws { try checkDecisions(name) }

    private func checkDecisions(_ name: String) throws {
        let first = try job(name) { $0.until = 2 }
        var stops = 0
        while try run(first, stoppingAt: 6 + stops % 5).status == .interrupted, stops < 200 { stops += 1 }
        #expect(stops > 1 && stops < 200)
        #expect(try output(first) == fresh(first))
        let more = try job(name) { $0.until = 5 }
        let outcome = try run(more)
        #expect(outcome.status == .complete && outcome.statistics.skipped >= 2)
        let whole = try output(more)
        #expect(try whole == fresh(more) && whole.contains("thing"))
        #expect(whole.contains("r1") != name.hasPrefix("messages"))
        if name.hasSuffix(".jsonl") {
            #expect(whole.split(separator: "\n").count == 5 && !whole.contains("\"dropped\""))
        }
        let (chosen, total) = try RedoChoice(where: "dropped == 'question'").results(of: more)
        #expect(chosen.count > 0 && total > 5)
        #expect(try JobFreshness(more, cache: .off)?.isFresh == true)
        let status = try JobStatus(output: more.output, tallies: true)
        #expect(status.tally[.accepted] == 5 && status.tally.values.reduce(0, +) == status.done)
        #expect(status.tally[.dropped(by: "question", .duplicate)] ?? 0 > 0, "\(status.tally)")
        let verified = try verify(more, lines: 9)
        #expect(verified.compared == 9 && verified.different == 0, "\(verified.faults)")
        #expect(verified.check.faultCount == 0, "\(verified.faults)")
        #expect(try OutputCheck(output: more.output).faults.isEmpty)
        var made: [GenerationResult] = []
        try status.log?.visit { record in
            made.append(record.result)
            return true
        }
        #expect(made.count == status.done && made.count(where: \.isAccepted) == 5)
        #expect(made.allSatisfy { $0.steps?.first?.name == "question" && $0.promptTokens > 0 })
        let again = try run(more)
        #expect(try again.statistics.done == 0 && output(more) == whole)
    }

    @Test(arguments: outputs.prefix(3)) func onlyWhatIsEditedIsDone(name: String) throws {
        var lines = Self.lines
        lines[9] = "{"
        try folder.write(lines: lines)
        let job = try job(name) { job in
            // What was decided of a row stays, also where an edit before it would decide otherwise.
            job.steps[0].distinct = nil
            job.errors = folder.path("failed" + name.dropFirst(3))
        }
        for _ in 0..<2 {
            #expect(try run(job).statistics.failed == 1)
            #expect(try folder.text("failed" + name.dropFirst(3)).contains("invalid_json"))
            #expect(try verify(job, lines: 3).isFine)
        }
        lines[9] = Self.lines[9]
        lines[20] = lines[20].replacing("\"topic\":\"", with: "\"topic\":\"new ")
        try folder.write(lines: lines)
        let edited = try run(job).statistics
        #expect(edited.done == 2 && edited.skipped == 38 && edited.failed == 0)
        #expect(try output(job).contains("new thing"))
        #expect(try verify(job, lines: 40).isFine)
    }

    @Test func moreSamplesShowInEachLine() throws {
        func job(_ samples: Int) throws -> JobSettings { try self.job("out.jsonl") { $0.samples = samples } }
        try run(job(1))
        #expect(try run(job(2)).statistics.skipped == 40)
        let output = try output(job(2))
        #expect(
            try output == fresh(job(2)) && output.hasPrefix("{\"id\":\"r0\",\"sample\":0,"))
    }
}
