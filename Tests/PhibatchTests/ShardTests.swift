import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Shards, their merge, and results that are verified, through the real program.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
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

    @Test(arguments: [[], ["--output-format", "openai"], ["--output-format", "json"]])
    func shardsMergeToWhatOneRunMakes(format: [String]) throws {
        let whole = try DemoJob(Self.lines, Self.settings + format)
        #expect(try whole.run().status == 0)
        let expected = try bytes(whole)

        let job = try DemoJob(Self.lines, Self.settings + format)
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
        for end in ["", ".log"] {
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
        #expect(try job.run(["--shard", "1/2"]).status == 0)
        #expect(try job.run(["--shard", "2/2", "--seed", "4"].filter { $0 != "" }).status != 0, "seed twice")
        let other = try DemoJob(Self.lines, ["--max-tokens", "3", "--max-failures", "3"])
        #expect(try other.run(["--shard", "2/2"]).status == 0)
        for name in ["out.jsonl.shard-2-of-2", "out.jsonl.shard-2-of-2.log"] {
            try FileManager.default.moveItem(
                atPath: other.folder + "/" + name, toPath: job.folder + "/" + name)
        }
        let mixed = try merge(job, 2)
        #expect(mixed.status != 0 && mixed.errors.contains("another job"), "\(mixed.errors)")
        #expect(!FileManager.default.fileExists(atPath: job.folder + "/out.jsonl"))
        #expect(try job.run(["--shard", "2/2", "--if-changed", "restart"]).status == 0)
        let path = job.folder + "/out.jsonl.shard-1-of-2"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing("\"text\":\"", with: "\"text\":\"x", maxReplacements: 1)
            .write(toFile: path, atomically: true, encoding: .utf8)
        let edited = try merge(job, 2)
        #expect(edited.status != 0 && edited.errors.contains("not as it was written"), "\(edited.errors)")
    }

    private static func prompts(_ ids: [String]) -> [String] {
        ids.map { "{\"id\": \"\($0)\", \"prompt\": \"Say \($0).\"}" }
    }

    /// Has a shard say that it saw another input, or none.
    private func pretend(_ job: DemoJob, _ name: String, _ input: InputSeen?) throws {
        var settings = try job.loadedSettings()
        settings.output = job.folder + "/" + name
        var forged = try Forged(settings)
        forged.header.input = input
        try forged.write()
    }

    @Test func shardsOfTwoInputsAreNotMerged() throws {
        let job = try DemoJob(Self.prompts(["a", "b", "c", "d"]), ["--max-tokens", "2"])
        func put(_ ids: [String]) throws {
            try Self.prompts(ids).map { $0 + "\n" }.joined()
                .write(toFile: job.folder + "/in.jsonl", atomically: true, encoding: .utf8)
        }
        #expect(try job.run(["--shard", "1/2"]).status == 0)
        // Ids a, a, c, c would be joined.
        try put(["x", "a", "b", "c"])
        #expect(try job.run(["--shard", "2/2"]).status == 0)
        let mixed = try merge(job, 2)
        #expect(
            mixed.status == 65 && mixed.errors.contains("out.jsonl.shard-2-of-2: saw another input"),
            "\(mixed.errors)")
        // Where they say that it was one input, an id twice shows.
        let names = ["out.jsonl.shard-1-of-2", "out.jsonl.shard-2-of-2"]
        for name in names { try pretend(job, name, InputSeen(lines: 4)) }
        let twice = try merge(job, 2)
        #expect(twice.status == 65 && twice.errors.contains("has a result of the id a"), "\(twice.errors)")
        #expect(!FileManager.default.fileExists(atPath: job.folder + "/out.jsonl"))
        try put(["a", "b", "c", "d"])
        #expect(try job.run(["--shard", "2/2", "--prune"]).status == 0)
        try pretend(job, names[1], nil)
        let silent = try merge(job, 2)
        #expect(silent.status == 65 && silent.errors.contains("which input it saw"), "\(silent.errors)")
        // One more run has nothing to do, and says what it saw.
        #expect(try job.run(["--shard", "1/2"]).errors.contains("nothing to do"))
        #expect(try job.run(["--shard", "2/2"]).errors.contains("nothing to do"))
        let new = try merge(job, 2)
        #expect(new.status == 0, "\(new.errors)")
        // A line more at the end is in no shard's share of two, but was seen.
        try put(["a", "b", "c", "d", "e"])
        #expect(try job.run(["--shard", "2/2"]).status == 0)
        let longer = try merge(job, 2)
        #expect(longer.status == 65 && longer.errors.contains("5 lines, and that one 4"), "\(longer.errors)")
    }

    @Test func failuresOfAllShardsCountTogether() throws {
        let lines = Self.prompts(["a", "b"]) + ["{}", "{}"]
        let job = try DemoJob(lines, ["--max-tokens", "2", "--max-failures", "1"])
        for shard in ["1/2", "2/2"] { #expect(try job.run(["--shard", shard]).status == 0) }
        let refused = try merge(job, 2)
        #expect(
            refused.status == 3 && refused.errors.contains("2 failed lines; max_failures allows 1"),
            "\(refused.errors)")
        let more = ["merge", "out.jsonl", "--shards", "2", "--max-failures"]
        #expect(try Program.run(more + ["25%"], folder: job.folder).status == 3)
        #expect(try Program.run(more + ["2"], folder: job.folder).status == 0)
        #expect(try Program.run(more + ["many"], folder: job.folder).status == 64)
    }
}
