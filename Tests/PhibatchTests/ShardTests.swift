import Foundation
import Testing

/// Shards, their merge, and results that are verified, through the real program.
@Suite(.enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct ShardTests {
    private static let settings = [
        "--max-tokens", "4", "--temperature", "0.8", "--seed", "3", "--samples", "2", "--max-failures", "3",
    ]
    /// With a line that fails, and an id that comes twice.
    private static let lines =
        (0..<7).map { "{\"id\": \"\($0)\", \"prompt\": \"Count to \($0).\"}" } + [
            "{\"prompt\": 5}", "{\"id\": \"2\", \"prompt\": \"Again.\"}",
        ]

    private func bytes(_ job: DemoJob, _ name: String = "out.jsonl") throws -> String {
        try String(contentsOfFile: job.folder + "/" + name, encoding: .utf8)
            .replacing(/"timing":\{[^{}]*\}/, with: "")
    }

    private func merge(_ job: DemoJob, _ count: Int) throws -> Program.Result {
        try Program.run(["merge", "out.jsonl", "--shards", "\(count)"], folder: job.folder)
    }

    @Test(arguments: [[], ["--output-format", "openai"]])
    func shardsMergeToWhatOneRunMakes(format: [String]) throws {
        let whole = try DemoJob(Self.lines, Self.settings + format)
        defer { whole.remove() }
        #expect(try whole.run().status == 0)
        let expected = try bytes(whole)

        let job = try DemoJob(Self.lines, Self.settings + format)
        defer { job.remove() }
        for shard in 1...3 {
            if shard == 3 {
                let early = try merge(job, 3)
                #expect(
                    early.status != 0 && early.errors.contains("out.jsonl.shard-3-of-3"), "\(early.errors)")
            }
            let run = try job.run(["--shard", "\(shard)/3"])
            #expect(run.status == 0, "\(run.errors)")
        }
        let merged = try merge(job, 3)
        #expect(merged.status == 0, "\(merged.errors)")
        #expect(try bytes(job) == expected)
        // It is an output like any other.
        let again = try job.run()
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.errors.contains(/nothing to do|results: 0 done/), "\(again.errors)")
        #expect(try merge(job, 3).status == 0 && bytes(job) == expected)
        // Another output is not lost.
        try "mine".write(toFile: job.folder + "/out.jsonl", atomically: true, encoding: .utf8)
        let over = try merge(job, 3)
        #expect(over.status == 0 && over.errors.contains("out.jsonl.old-1"), "\(over.errors)")
        #expect(try bytes(job) == expected && bytes(job, "out.jsonl.old-1") == "mine")
        // Renamed shards are not taken for each other.
        for end in ["", ".settings"] + (format.isEmpty ? [] : [".record"]) {
            let names = ["1-of-3", "2-of-3"].map { job.folder + "/out.jsonl.shard-\($0)\(end)" }
            try FileManager.default.moveItem(atPath: names[0], toPath: names[0] + "x")
            try FileManager.default.moveItem(atPath: names[1], toPath: names[0])
            try FileManager.default.moveItem(atPath: names[0] + "x", toPath: names[1])
        }
        let renamed = try merge(job, 3)
        #expect(renamed.status != 0 && renamed.errors.contains("it was renamed"), "\(renamed.errors)")
    }

    @Test func whatIsNotWholeIsNotMerged() throws {
        let job = try DemoJob(Self.lines, Self.settings)
        defer { job.remove() }
        #expect(try job.run(["--shard", "1/2"]).status == 0)
        #expect(try job.run(["--shard", "2/2", "--seed", "4"].filter { $0 != "" }).status != 0, "seed twice")
        let other = try DemoJob(Self.lines, ["--max-tokens", "3", "--max-failures", "3"])
        defer { other.remove() }
        #expect(try other.run(["--shard", "2/2"]).status == 0)
        for name in ["out.jsonl.shard-2-of-2", "out.jsonl.shard-2-of-2.settings"] {
            try FileManager.default.moveItem(
                atPath: other.folder + "/" + name, toPath: job.folder + "/" + name)
        }
        let mixed = try merge(job, 2)
        #expect(mixed.status != 0 && mixed.errors.contains("another job"), "\(mixed.errors)")
        #expect(!FileManager.default.fileExists(atPath: job.folder + "/out.jsonl"))
        #expect(try job.run(["--shard", "2/2", "--if-changed", "restart"]).status == 0)
        let path = job.folder + "/out.jsonl.shard-1-of-2"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing("\"seed\":3", with: "\"seed\":5", maxReplacements: 1)
            .write(toFile: path, atomically: true, encoding: .utf8)
        let edited = try merge(job, 2)
        #expect(edited.status != 0 && edited.errors.contains("not as it was written"), "\(edited.errors)")
    }

    @Test(arguments: [[], ["--output-format", "openai"]])
    func finishedResultsAreVerified(format: [String]) throws {
        let job = try DemoJob(Self.lines, Self.settings + format)
        defer { job.remove() }
        #expect(try job.run().status == 0)
        func verify(_ more: [String]) throws -> Program.Result {
            try Program.run(["verify"] + job.arguments(["-q"] + more), folder: job.folder)
        }
        let all = try verify(["--sample", "100%"])
        #expect(all.status == 0 && all.output.contains("9 of 9 lines, 18 results"), "\(all)")
        #expect(try verify(["--sample", "2"]).output.contains("2 of 9 lines"))
        #expect(try job.run(["--shard", "2/4"]).status == 0)
        let shard = try verify(["--sample", "100%", "--shard", "2/4"])
        #expect(shard.status == 0 && shard.output.contains("2 of 2 lines"), "\(shard)")
        #expect(try job.files.allSatisfy { $0 == "in.jsonl" || $0.hasPrefix("out.jsonl") })
        let path = job.folder + "/out.jsonl"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let name = format.isEmpty ? "text" : "content"
        try text.replacing("\"\(name)\":\"", with: "\"\(name)\":\"forged ", maxReplacements: 1)
            .write(toFile: path, atomically: true, encoding: .utf8)
        let forged = try verify(["--sample", "100%"])
        #expect(forged.status == 1 && forged.output.contains("not verified"), "\(forged)")
        if format.isEmpty { #expect(forged.errors.contains("forged"), "\(forged.errors)") }
    }
}
