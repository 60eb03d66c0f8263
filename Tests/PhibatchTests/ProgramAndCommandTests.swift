import BatchPipeline
import Foundation
import Testing

/// A job of a program and one of the command are the same job.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct ProgramAndCommandTests {
    private static let options = [
        "--max-tokens", "100", "--ignore-eos", "--seed", "3", "--temperature", "0.8", "--workers", "2",
        "--checkpoint-interval", "0",
    ]

    private func settings(_ job: DemoJob) -> JobSettings {
        var settings = JobSettings()
        settings.model = job.model
        settings.input = [job.folder + "/in.jsonl"]
        settings.output = job.folder + "/out.jsonl"
        (settings.maxTokens, settings.seed, settings.temperature) = (100, 3, 0.8)
        settings.ignoreEndOfSequence = true
        settings.engine.workers = .count(2)
        settings.checkpointInterval = 0
        return settings
    }

    private func job() throws -> DemoJob {
        try DemoJob((1...6).map { "{\"id\": \"\($0)\", \"prompt\": \"Count to \($0).\"}" }, Self.options)
    }

    /// Runs the job in this program until some tokens are there.
    /// - Returns: whether it was stopped; a starved task may hear of its progress too late for that.
    private func begin(_ job: DemoJob) async throws -> Bool {
        let run = try BatchJob(settings(job)).run()
        for try await progress in run where progress.completionTokens >= 20 { run.stop() }
        return try await run.outcome.status == .interrupted
    }

    @Test func eachTakesUpTheOthersRun() async throws {
        let whole = try job()
        defer { whole.remove() }
        #expect(try whole.run().status == 0)
        let expected = try #require(whole.results)

        let first = try job()
        defer { first.remove() }
        let isStopped = try await begin(first)
        let rest = try first.run()
        let says = isStopped ? "resumed in the middle" : "nothing to do"
        #expect(rest.status == 0 && rest.errors.contains(says), "\(rest.errors)")
        #expect(first.results == expected)

        let second = try job()
        defer { second.remove() }
        let program = try second.start()
        try program.wait(for: "saved tokens") {
            (try? second.files.contains("out.jsonl.journal.inflight")) == true
        }
        program.send(SIGTERM)
        _ = try program.end()
        let outcome = try await BatchJob(settings(second)).run().outcome
        #expect(outcome.status == .complete && outcome.statistics.resumed + outcome.statistics.skipped > 0)
        #expect(second.results == expected)
    }
}
