import Foundation
import TestSupport
import Testing

/// Inputs that lose lines, or are not whole yet; outputs that were edited.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct LossCommandTests {
    private static func line(_ number: Int) -> String {
        "{\"id\":\"n\(number)\",\"prompt\":\"Say \(number).\"}"
    }

    private func finished(_ count: Int = 12) throws -> DemoJob {
        let job = try DemoJob((0..<count).map(Self.line), ["--max-tokens", "4"])
        #expect(try job.run().status == 0)
        return job
    }

    private func write(_ text: String, _ job: DemoJob) throws {
        try Data(text.utf8).write(to: URL(filePath: job.folder + "/in.jsonl"))
    }

    private func bytes(_ job: DemoJob, _ name: String = "out.jsonl") -> Data? {
        FileManager.default.contents(atPath: job.folder + "/" + name)
    }

    @Test func aRotatedInputReplacesNothingUnlessItMay() throws {
        let job = try finished()
        defer { job.remove() }
        let before = try #require(bytes(job))
        try write(Self.line(100) + "\n", job)
        let refused = try job.run()
        #expect(refused.status == 65 && refused.errors.contains("--prune"), "\(refused.errors)")
        #expect(!refused.errors.contains("loading the model"), "\(refused.errors)")
        #expect(bytes(job) == before)
        #expect(try job.files == ["in.jsonl", "out.jsonl"])
        let pruned = try job.run(["--prune", "--quiet"])
        #expect(pruned.status == 0 && job.results?.count == 1, "\(pruned.errors)")
        #expect(
            pruned.errors.contains(
                "warning: results of the earlier output that are not in the new one: 12, of which with lines that are gone: 12; "
                    + "the earlier output is kept as out.jsonl.old-1"), "\(pruned.errors)")
        #expect(bytes(job, "out.jsonl.old-1") == before)
        // Who wants to know more of the output, and asks as one did once.
        let old = try Program.run(["status", "--check"] + job.arguments(), folder: job.folder)
        #expect(old.status == 64 && old.errors.contains("verify --file-only"), "\(old.errors)")
    }

    /// Whenever the signal comes, what the program says and how it leaves fit what it has done.
    @Test func aSignalDuringTheFinishIsToldAsItIs() throws {
        let lines = (0..<40_000).map { "{\"id\":\"n\($0)\"}" }
        let expected = try DemoJob(lines, ["--max-failures", "100%"])
        defer { expected.remove() }
        #expect(try expected.run().status == 0)
        var late = 0
        for attempt in 0..<4 {
            let job = try DemoJob(lines, expected.settings)
            defer { job.remove() }
            let program = try job.start(["--quiet"])
            let deadline = ContinuousClock.now + .seconds(longestWait)
            let known: Set = ["in.jsonl", "out.jsonl.lock", "out.jsonl.journal"]
            // A further file is the output's draft; with it the finish begins.
            func finishes() throws -> Bool {
                try job.files.contains { !known.contains($0) && !$0.contains(".journal") }
            }
            while program.isRunning, try !finishes() {
                try #require(ContinuousClock.now < deadline)
            }
            program.send(SIGTERM)
            let result = try program.end()
            let goesOn = result.errors.contains("goes on from here") || result.errors.contains("run the same")
            if result.status == 0 {
                #expect(job.results == expected.results && !goesOn, "\(result.errors)")
                if result.errors.contains("SIGTERM") { late += 1 }
                #expect(try job.files == ["in.jsonl", "out.jsonl"])
            } else {
                // Too slow for the time that a signal leaves.
                #expect(result.status == 143, "attempt \(attempt): \(result.errors)")
            }
        }
        print("a signal during the finish: \(late) of 4 came in time to be told")
    }
}
