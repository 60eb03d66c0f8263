import Foundation
import TestSupport
import Testing

/// Requests that give way in the middle, in a KV cache that is too small for those that run.
@Suite(
    .tags(.slow), .serialized,
    .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct PreemptionTests {
    private static let settings = [
        "--tokens", "--logprobs", "1", "--seed", "3", "--ignore-eos",
    ]

    /// How often a request gave way, from the summary.
    private func preemptions(_ run: Program.Result) -> Int {
        run.errors.firstMatch(of: /(\d+) times? a request gave way/).flatMap { Int($0.1) } ?? 0
    }

    @Test func whatGivesWayEndsWithTheSameBytes() throws {
        let lines = (1...8).map {
            "{\"prompt\": \"Tell me a story about the number \($0).\", \"temperature\": \(Double($0 % 2) * 0.8)}"
        }
        let job = try DemoJob(lines, Self.settings + ["--max-tokens", "120"])
        defer { job.remove() }
        let plenty = try job.run(["--kv-budget", "100MB", "--workers", "8"])
        try #require(plenty.status == 0, "\(plenty.errors)")
        #expect(preemptions(plenty) == 0)
        let expected = try #require(job.results)
        // Room for the ceilings of two or so.
        let run = try job.run(["--restart", "--workers", "8", "--kv-budget", "4MB"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(preemptions(run) > 0, "\(run.errors)")
        #expect(job.results == expected)
    }

    /// A prompt's beginning that all share, and a stop in the midst of it all.
    @Test func whatGaveWayIsSavedAndGoesOn() throws {
        let beginning = String(repeating: "All work and no play makes Jack a dull boy. ", count: 12)
        let lines = (1...6).map { "{\"prompt\": \"\(beginning)\($0)\"}" }
        let job = try DemoJob(lines, Self.settings + ["--max-tokens", "100"])
        defer { job.remove() }
        let plenty = try job.run(["--kv-budget", "100MB", "--workers", "6"])
        try #require(plenty.status == 0, "\(plenty.errors)")
        let expected = try #require(job.results)
        // With guesses some are done before the others need their room.
        let tight = [
            "--workers", "6", "--kv-budget", "6MB", "--checkpoint-interval", "0", "--speculate", "off",
        ]
        // On a machine that is busy lines may come so late that those before them are done.
        var gaveWay = 0
        for _ in 0..<5 where gaveWay == 0 {
            try FileManager.default.removeItem(atPath: job.folder + "/out.jsonl")
            gaveWay = try stopped(job, tight)
            #expect(job.results == expected)
        }
        #expect(gaveWay > 0)
    }

    /// - Returns: how many gave way in a run that is stopped, and in one that goes on with it.
    private func stopped(_ job: DemoJob, _ tight: [String]) throws -> Int {
        let program = try job.start(tight)
        let deadline = ContinuousClock.now + .seconds(longestWait)
        while program.isRunning, ContinuousClock.now < deadline {
            let saved =
                try? FileManager.default.attributesOfItem(
                    atPath: job.folder + "/out.jsonl.journal.inflight")[.size] as? Int
            if (saved ?? 0) > 10_000 { break }
        }
        program.send(SIGTERM)
        let stopped = try program.end()
        #expect(stopped.status == 143, "\(stopped.errors)")
        let rest = try job.run(tight)
        #expect(rest.status == 0, "\(rest.errors)")
        #expect(rest.errors.contains("taken up in the middle"), "\(rest.errors)")
        return preemptions(stopped) + preemptions(rest)
    }
}
