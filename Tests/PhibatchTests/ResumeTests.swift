import Foundation
import Testing

/// What a second run of the same command does and says.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct ResumeTests {
    private static func line(_ number: Int, _ prompt: String) -> String {
        "{\"id\":\"n\(number)\",\"prompt\":\"\(prompt)\"}"
    }
    private static let lines = (0..<5).map { line($0, "Count up from \($0).") }

    private func write(_ lines: [String], _ job: DemoJob) throws {
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: job.folder + "/in.jsonl"))
    }

    @Test func aFinishedJobSaysSoWithoutTheModel() throws {
        let job = try DemoJob(Self.lines, ["--max-tokens", "6"])
        defer { job.remove() }
        let first = try job.run()
        #expect(first.status == 0 && first.errors.contains("loading the model"), "\(first.errors)")
        let output = FileManager.default.contents(atPath: job.folder + "/out.jsonl")
        for more in [[], ["--workers", "3", "--kv", "int8", "--kv-budget", "1MB"]] {
            let second = try job.run(more)
            #expect(second.status == 0 && second.output.isEmpty)
            #expect(second.errors.contains("nothing to do: the results of all 5 lines are in out.jsonl"))
            #expect(!second.errors.contains("loading the model"))
            #expect(FileManager.default.contents(atPath: job.folder + "/out.jsonl") == output)
            #expect(try job.files == ["in.jsonl", "out.jsonl"])
        }
    }

    /// The second sample of a line was done before its first, and nothing after it: it is no result without a line.
    @Test func aLaterSampleIsNotTakenForLost() throws {
        let job = try DemoJob(
            Array(Self.lines.prefix(3)), ["--max-tokens", "3", "--samples", "2", "--temperature", "1"])
        defer { job.remove() }
        #expect(try job.run().status == 0)
        var forged = try Forged(job.loadedSettings())
        forged.records.remove(at: 4)
        try forged.write()
        let again = try job.run()
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.errors.contains("1 done, 0 failed, 5 done before"), "\(again.errors)")
        #expect(try job.files == ["in.jsonl", "out.jsonl"])
    }

    @Test func onlyWhatWasEditedIsDone() throws {
        let job = try DemoJob(Self.lines, ["--max-tokens", "6"])
        defer { job.remove() }
        #expect(try job.run().status == 0)
        let before = try #require(job.results)
        // One line is gone, one changed, one new, and all stand elsewhere.
        let edited =
            Self.lines[3...4] + [Self.line(9, "What is new?"), Self.line(0, "What is old?"), Self.lines[1]]
        try write(Array(edited), job)
        let strict = try job.run(["--quiet"])
        #expect(strict.status == 65, "a fifth is gone")
        #expect(
            strict.errors.contains("of the 5 results of an earlier run 1 would go"), "\(strict.errors)")
        #expect(job.results == before)
        let second = try job.run(["--prune"])
        #expect(second.status == 0)
        #expect(try job.files == ["in.jsonl", "out.jsonl", "out.jsonl.old-1"])
        #expect(
            second.errors.contains("results of an earlier run: 3 kept, 1 changed, 1 new, 1 gone"),
            "\(second.errors)")
        #expect(second.errors.contains("5 lines: 2 done, 0 failed, 3 done before"), "\(second.errors)")
        let after = try #require(job.results)
        func content(_ line: String) -> String {
            line.replacing(/"index":\d+,/, with: "").replacing(/,"sum":"\w+"/, with: "")
        }
        #expect(
            [after[0], after[1], after[4]].map(content) == [before[3], before[4], before[1]].map(content))
        // As if there had never been another input.
        let fresh = try DemoJob(Array(edited), job.settings)
        defer { fresh.remove() }
        #expect(try fresh.run().status == 0)
        #expect(fresh.results == after)
    }
}
