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

    @Test func anEmptyInputReplacesNothing() throws {
        let job = try finished()
        defer { job.remove() }
        let before = bytes(job)
        // The program's stdin is empty. The last input counts as a further one, so the first must go too.
        for more in [["--quiet"], ["--quiet", "--prune"]] {
            let arguments =
                ["run", "--model", job.model, "--input", "-", "--output", "out.jsonl"] + job.settings + more
            let result = try RunningProgram(arguments, folder: job.folder).end()
            #expect(result.status == 65, "\(result.errors)")
            #expect(result.errors.contains("the input has no lines"), "\(result.errors)")
            #expect(!result.errors.contains("goes on from there"), "\(result.errors)")
            #expect(bytes(job) == before)
            #expect(try job.files == ["in.jsonl", "out.jsonl"])
        }
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
    }

    @Test func aRestartKeepsTheEarlierOutput() throws {
        let job = try finished(2)
        defer { job.remove() }
        let before = bytes(job)
        let result = try job.run(["--restart", "--seed", "3"])
        #expect(result.status == 0 && result.errors.contains("kept as out.jsonl.old-1"), "\(result.errors)")
        #expect(bytes(job, "out.jsonl.old-1") == before && bytes(job) != before)
        #expect(try job.files == ["in.jsonl", "out.jsonl", "out.jsonl.old-1"])
    }

    /// Never complete with what is there of it; once it is whole, all goes on.
    @Test func aCutInputIsAnError() throws {
        let job = try finished(2)
        defer { job.remove() }
        let whole = (0..<4).map { Self.line($0) + "\n" }.joined()
        let cut = String(whole.dropLast(20))
        for (text, status, count) in [(cut, Int32(74), 2), (String(whole.dropLast()), 0, 4), (whole, 0, 4)] {
            try write(text, job)
            let result = try job.run(["--quiet"])
            #expect(result.status == status && job.results?.count == count, "\(result.errors)")
            #expect(
                result.errors.contains("the input ends in half a line") == (text == cut), "\(result.errors)")
            #expect(try job.files == ["in.jsonl", "out.jsonl"])
        }
        try write(cut, job)
        let check = try Program.run(["check", "--no-estimate"] + job.arguments(), folder: job.folder)
        #expect(check.status == 74 && check.errors.contains("in.jsonl: the input ends in"), "\(check.errors)")
        // In a stream the whole lines have their results.
        let stream = try Program.run(
            ["run", "--model", job.model, "--input", "-", "--output", "-", "--quiet"] + job.settings,
            input: cut)
        #expect(stream.status == 74 && stream.output.count { $0 == "\n" } == 3)
        #expect(stream.errors.contains("stdin:4: the input ends in half a line"), "\(stream.errors)")
    }

    @Test func anEditedOutputIsFoundIfAskedFor() throws {
        let job = try finished(4)
        defer { job.remove() }
        func check() throws -> Program.Result {
            try Program.run(["verify", "--file-only"] + job.arguments(), folder: job.folder)
        }
        let whole = try check()
        #expect(whole.status == 0 && whole.output.contains("all 4 results are as they were written"))
        let text = String(decoding: try #require(bytes(job)), as: UTF8.self)
        let lines = text.split(separator: "\n").map { String($0) + "\n" }
        let edits: [(String, [String])] = [
            (
                lines[0] + lines[1].replacing("\"seed\":0", with: "\"seed\":1") + lines[2] + lines[3],
                ["1 of 4 lines are not as they were written, the first is line 2"]
            ),
            (
                lines[0] + lines[2] + lines[3],
                [
                    "1 of 3 lines are not as they were written, the first is line 2",
                    "there is no result of line 2",
                ]
            ),
            (lines[0] + lines[1] + lines[2], ["there is no result of line 4"]),
            (
                text.replacing(/,"sum":"\w+"/, with: ""),
                ["4 of 4 lines are not as they were written, the first is line 1"]
            ),
        ]
        for (edited, said) in edits {
            try Data(edited.utf8).write(to: URL(filePath: job.folder + "/out.jsonl"))
            let result = try check()
            #expect(result.status == 1 && said.allSatisfy(result.errors.contains), "\(result.errors)")
        }
        try FileManager.default.removeItem(atPath: job.folder + "/out.jsonl")
        let none = try check()
        #expect(none.status == 66 && none.errors.contains("no such results"), "\(none.errors)")
        // Spelled as it was once.
        let old = try Program.run(["status", "--check"] + job.arguments(), folder: job.folder)
        #expect(old.status == 64 && old.errors.contains("verify --file-only"), "\(old.errors)")
        let manifest = try Program.run(["manifest"] + job.arguments(), folder: job.folder)
        #expect(manifest.status == 64 && manifest.errors.contains("verify --manifest"), "\(manifest.errors)")
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
