import Foundation
import PhiModel
import Testing

/// A results file depends on model, input and settings alone, but for the `timing` members.
@Suite(
    .tags(.slow), .serialized,
    .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct SameBytesTests {
    private func expectSame(
        _ job: DemoJob, as expected: [String], _ options: [String], kernels: String? = nil
    ) throws {
        let environment = kernels.map { ["PHIBATCH_KERNELS": $0] } ?? [:]
        let result = try job.run(options + ["--restart"], environment: environment)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.isEmpty, "stdout is for results")
        let place = "\(options.joined(separator: " ")) \(kernels ?? "")"
        let lines = try #require(job.results)
        #expect(lines.count == expected.count, "\(place)")
        for (line, expected) in zip(lines, expected) { #expect(line == expected, "\(place)") }
    }

    private func first(_ job: DemoJob, _ options: [String]) throws -> [String] {
        let result = try job.run(options)
        try #require(result.status == 0, "\(result.errors)")
        return try #require(job.results)
    }

    private static let settings = ["--tokens", "--logprobs", "2", "--seed", "17"]

    /// Every other line of the samples is sampled at temperature 0.8, and every third one has penalties.
    @Test func workersThreadsChunksAndKernels() throws {
        let wanted = [
            "gravity", "capital-de", "greeting-ja", "one-step", "sql", "chat-correct", "emoji", "broken",
        ]
        let samples = try DemoJob.samples().filter { line in
            wanted.contains { line.hasPrefix("{\"id\": \"\($0)\"") }
        }
        #expect(samples.count == wanted.count)
        let lines = samples.enumerated().map { number, line in
            var more = number % 2 == 0 ? "" : "\"temperature\": 0.8, "
            if number % 3 == 1 {
                more +=
                    "\"repetition_penalty\": 1.3, \"frequency_penalty\": 0.4, \"logit_bias\": {\"28\": 2}, "
            }
            return "{" + more + line.dropFirst()
        }
        let job = try DemoJob(lines, Self.settings + ["--max-tokens", "12", "--max-failures", "1"])
        let expected = try first(job, ["--workers", "1", "--threads", "1"])
        for (workers, threads) in [(1, 2), (2, 1), (2, 2), (7, 1), (7, 2), (32, 1), (32, 2)] {
            try expectSame(job, as: expected, ["--workers", "\(workers)", "--threads", "\(threads)"])
        }
        try expectSame(job, as: expected, ["--workers", "7", "--prefill-chunk", "5"])
        // Room for two requests or so: the others have to wait.
        try expectSame(job, as: expected, ["--workers", "32", "--kv-budget", "4MB"])
        for kernels in Kernels.available.dropFirst() where kernels.name != "reference" {
            try expectSame(job, as: expected, ["--workers", "7"], kernels: kernels.name)
        }
    }

    /// With results: data not a byte differs, however the job was run.
    @Test func theSameFileComesOfEveryRun() throws {
        let lines =
            (0..<6).map { "{\"id\": \"l\($0)\", \"prompt\": \"Say \($0).\", \"temperature\": 0.8}" } + ["{"]
        let job = try DemoJob(
            lines, ["--max-tokens", "6", "--max-failures", "1", "--tokens"])
        func file(_ runs: [String]...) throws -> Data? {
            for name in try FileManager.default.contentsOfDirectory(atPath: job.folder)
            where name != "in.jsonl" {
                try FileManager.default.removeItem(atPath: job.folder + "/" + name)
            }
            for more in runs {
                let detail = more.contains("--results") ? [] : ["--results", "data"]
                let run =
                    more.first == "merge"
                    ? try Program.run(more, folder: job.folder) : try job.run(detail + more)
                #expect(run.status == 0, "\(run.errors)")
            }
            return FileManager.default.contents(atPath: job.folder + "/out.jsonl")
        }
        let expected = try #require(try file([]))
        #expect(expected.count > 500 && !String(decoding: expected, as: UTF8.self).contains("timing"))
        #expect(try file(["--workers", "7", "--threads", "1", "--speculate", "off"]) == expected)
        #expect(try file([], ["--restart"]) == expected)
        #expect(try file(["--limit", "3"], []) == expected)
        #expect(
            try file(["--shard", "1/2"], ["--shard", "2/2"], ["merge", "out.jsonl", "--shards", "2"])
                == expected)
        // Rows with times, and then without, from the log alone.
        #expect(try file(["--results", "full"], []) == expected)
    }
}
