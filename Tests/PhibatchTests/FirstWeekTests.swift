import Foundation
import Testing

@testable import BatchPipeline
@testable import phibatch

/// What people trip over, tried with the real program.
@Suite(.enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct FirstWeekTests {
    @Test func theVersionIsSaid() throws {
        let run = try RunningProgram(
            ["--version"], folder: FileManager.default.temporaryDirectory.path
        ).end()
        #expect(run.status == 0 && run.output == "phibatch \(Phibatch.version)\n", "\(run.output)")
    }

    @Test func shortOptions() throws {
        let job = try DemoJob(["{\"prompt\": \"Hi\"}"], [])
        defer { job.remove() }
        let run = try RunningProgram(
            ["run", "-m", job.model, "-i", "in.jsonl", "-o", "out.jsonl", "--max-tokens", "2", "-q"],
            folder: job.folder
        ).end()
        #expect(run.status == 0 && run.errors.isEmpty && job.results?.count == 1, "\(run.errors)")
    }

    /// A second run finds the first at work, and leaves.
    @Test func aRunAtWorkIsLeftToIt() throws {
        let job = try DemoJob(
            (0..<4).map { "{\"prompt\": \"Tell me a story about \($0).\"}" },
            ["--max-tokens", "1500", "--ignore-eos", "--workers", "1"])
        defer { job.remove() }
        let first = try job.start()
        try first.wait(for: "the lock") { first.errorsSoFar.contains("loading the model") }
        let refused = try job.run(["--quiet"])
        let left = try job.run(["--skip-if-running"])
        #expect(first.isRunning)
        first.send(SIGTERM)
        _ = try first.end()
        #expect(refused.status == 75, "\(refused.errors)")
        #expect(left.status == 0 && left.errors.isEmpty && left.output.isEmpty, "\(left.errors)")
        let both = try job.run(["--skip-if-running", "--wait"])
        #expect(both.status == 64)
    }

    @Test func aWrongKindOfFileIsRefusedBeforeTheModelIsLoaded() throws {
        let job = try DemoJob(Data([0x1f, 0x8b, 8, 0, 0, 0, 0]), [])
        defer { job.remove() }
        let run = try job.run()
        #expect(run.status == 65 && run.errors.contains("packed with gzip"), "\(run.errors)")
        #expect(!run.errors.contains("loading the model"))
        #expect(try job.files == ["in.jsonl"])
    }

    @Test func warningsAreSaidOnce() throws {
        let job = try DemoJob(
            (0..<3).map { "{\"prompt\": \"Say \($0).\", \"temprature\": 1}" }, ["--max-tokens", "2", "-q"])
        defer { job.remove() }
        let run = try job.run()
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.matches(of: /Is temperature meant/).count == 1, "\(run.errors)")
    }

    @Test func progressHasTotalAndTimeLeft() {
        var statistics = RunStatistics()
        statistics.done = 38
        statistics.skipped = 100
        statistics.total = 500
        statistics.seconds = 4
        statistics.completionTokens = 4044
        statistics.running = 16
        #expect(ProgressReport.text(statistics).text == "138/500 27 %  1,011 tokens/s  0:39 left  16 running")
        statistics.total = nil
        #expect(ProgressReport.text(statistics).text == "138 done  1,011 tokens/s  0:04  16 running")
        #expect(clock(3725) == "1:02:05" && grouped(1_234_567) == "1,234,567" && grouped(999) == "999")
    }

    @Test func progressStaysInItsLine() {
        #expect(
            Console.cut("138/500 27 %  1,011 tokens/s", columns: 80).text == "138/500 27 %  1,011 tokens/s")
        #expect(Console.cut("138/500 27 %  1,011 tokens/s", columns: 13).text == "138/500 27 %")
        // A wide character takes two columns.
        #expect(Console.cut("\("漢字") loading", columns: 6).text == "漢字 ")
        #expect(Console.cut("ab", columns: 0).text == "a")
    }
}
