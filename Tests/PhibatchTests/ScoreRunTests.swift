import Foundation
import Testing

/// Runs of jobs with `task: score` and a real model.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct ScoreRunTests {
    private struct Generated: Decodable {
        struct Logprobs: Decodable {
            struct Entry: Decodable { var logprob: Float }
            var content: [Entry]
        }
        var text: String
        var tokens: [Int32]
        var logprobs: Logprobs
    }

    private struct Score: Decodable {
        var logprob: Double
        var mean: Double
        var perplexity: Double
        var tokenLogprobs: [Float]
        var tokens: [Int32]?
    }

    private struct Ranking: Decodable {
        var scores: [Score]
        var best: Int
    }

    private func decode<Row: Decodable>(_ job: DemoJob, _ type: Row.Type) throws -> [Row] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try (job.results ?? []).map { try decoder.decode(type, from: Data($0.utf8)) }
    }

    private func score(_ job: DemoJob, _ more: [String] = []) throws -> Program.Result {
        try RunningProgram(["run", "--task", "score"] + job.arguments(more), folder: job.folder).end()
    }

    private func bytes(_ job: DemoJob) throws -> String {
        try String(contentsOfFile: job.folder + "/out.jsonl", encoding: .utf8)
            .replacing(/"timing":\{[^{}]*\}/, with: "")
    }

    /// A completion that was generated has the log-probabilities that it was generated with, bit for bit.
    @Test(arguments: [[], ["--no-chat"]])
    func scoresAreThoseOfTheGeneration(chat: [String]) throws {
        let lines = [
            "Count: one, two, three,", "The capital of France is", "Once upon a time", "It rains when",
        ].map { "{\"prompt\":\"\($0)\"}" }
        let run = try DemoJob(
            lines, ["--max-tokens", "24", "--logprobs", "0", "--tokens", "--keep", "prompt"] + chat)
        defer { run.remove() }
        #expect(try run.run().status == 0)
        let generated = try decode(run, Generated.self)
        let job = try DemoJob(
            try #require(run.results), ["--tokens", "--workers", "2", "--threads", "1"] + chat)
        defer { job.remove() }
        let result = try score(job)
        #expect(result.status == 0, "\(result.errors)")
        var same = 0
        for (one, score) in zip(generated, try decode(job, Score.self)) where one.tokens == score.tokens {
            same += 1
            let logprobs = one.logprobs.content.map(\.logprob)
            #expect(score.tokenLogprobs == logprobs)
            #expect(score.logprob == logprobs.reduce(0) { $0 + Double($1) })
            #expect(score.mean == score.logprob / Double(logprobs.count))
            #expect(abs(score.perplexity - exp(-score.mean)) < 1e-9 * score.perplexity)
        }
        #expect(same >= 3, "the comparison must mean something")
    }

    private static let lines = [
        ("The capital of France is", [" Paris", " Berlin", " a small banana"]),
        ("Two and two make", [" seven hundred", " four"]),
        ("The opposite of hot is", [" blue sky table", " cold", " hot hot hot"]),
    ].enumerated().map { number, line in
        "{\"id\":\"\(number)\",\"prompt\":\"\(line.0)\",\"completion\":\(line.1)}"
    }

    @Test func theRightAnswerIsRankedFirst() throws {
        let job = try DemoJob(Self.lines, ["--no-chat"])
        defer { job.remove() }
        let result = try score(job)
        #expect(result.status == 0, "\(result.errors)")
        let rankings = try decode(job, Ranking.self)
        #expect(rankings.map(\.best) == [0, 1, 1])
        #expect(rankings.map(\.scores.count) == [3, 2, 3])
        #expect(result.errors.contains("3 lines: 3 done, 0 failed"), "\(result.errors)")
        let again = try score(job)
        #expect(again.status == 0 && again.errors.contains("nothing to do"), "\(again.errors)")
        // Another task makes other results.
        let other = try job.run()
        #expect(other.status == 65 && other.errors.contains("task"), "\(other.errors)")
    }

    @Test func shardsMergeAndAreVerified() throws {
        let whole = try DemoJob(Self.lines, ["--no-chat", "--task", "score"])
        defer { whole.remove() }
        #expect(try whole.run(["--threads", "1"]).status == 0)
        let job = try DemoJob(Self.lines, ["--no-chat"])
        defer { job.remove() }
        for shard in 1...2 { #expect(try score(job, ["--shard", "\(shard)/2"]).status == 0) }
        let merged = try Program.run(["merge", "out.jsonl", "--shards", "2"], folder: job.folder)
        #expect(merged.status == 0, "\(merged.errors)")
        #expect(try bytes(job) == bytes(whole))
        func verify() throws -> Program.Result {
            try RunningProgram(
                ["verify", "out.jsonl", "--task", "score"]
                    + job.arguments().filter { $0 != "--output" && $0 != "out.jsonl" } + [
                        "--sample", "100%",
                    ],
                folder: job.folder
            ).end()
        }
        let verified = try verify()
        #expect(verified.status == 0, "\(verified.errors)")
        let text = try String(contentsOfFile: job.folder + "/out.jsonl", encoding: .utf8)
        try text.replacing(/"mean":-\d/, with: "\"mean\":-9", maxReplacements: 1)
            .write(toFile: job.folder + "/out.jsonl", atomically: true, encoding: .utf8)
        #expect(try verify().status == 1)
    }

    /// Killed in the middle, with some lines done: the same bytes as a run that nobody disturbed.
    @Test func killedRunsLoseNothing() throws {
        let words = (0..<400).map { "word\($0)" }
        let lines = (0..<8).map { number in
            "{\"text\":\"\(words[(number * 17)...].prefix(100).joined(separator: " "))\"}"
        }
        let whole = try DemoJob(lines, ["--no-chat"])
        defer { whole.remove() }
        #expect(try score(whole).status == 0)
        let job = try DemoJob(lines, ["--no-chat", "--workers", "2"])
        defer { job.remove() }
        let running = try RunningProgram(
            ["run", "--task", "score"] + job.arguments(["--threads", "1"]), folder: job.folder)
        let journal = URL(filePath: job.folder + "/out.jsonl.journal")
        var done = 0
        try running.wait(for: "results") {
            done = ((try? Data(contentsOf: journal))?.count { $0 == 0x0a } ?? 1) - 1
            return done >= 2
        }
        running.send(SIGKILL)
        #expect(try running.end().status != 0)
        let rest = try score(job)
        #expect(rest.status == 0, "\(rest.errors)")
        #expect(rest.errors.contains("done before") || done == 8, "\(rest.errors)")
        #expect(try bytes(job) == bytes(whole))
    }

    @Test func tablesHaveColumnsForBoth() throws {
        let job = try DemoJob([], ["--no-chat"])
        defer { job.remove() }
        try Data("prompt,completion\n\"One, two,\",\" three\"\n\"One, two,\",\n".utf8)
            .write(to: URL(filePath: job.folder + "/in.csv"))
        let result = try RunningProgram(
            [
                "run", "--task", "score", "--model", job.model, "--input", "in.csv", "--output", "out.jsonl",
                "--no-chat",
                "--max-failures", "1",
            ], folder: job.folder
        ).end()
        #expect(result.status == 0, "\(result.errors)")
        let lines = try #require(job.results)
        #expect(lines.count == 2 && lines[0].contains("\"logprob\":-"))
        #expect(lines[1].contains("`completion` is empty."), "\(lines[1])")
    }

    @Test func whatCannotBeScoredIsRefusedBefore() throws {
        let request =
            #"{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"messages":[{"role":"user","content":"a"}]}}"#
        for (line, more, message) in [
            (request, [], "holds OpenAI's requests"),
            (#"{"prompt":"a","answer":"b"}"#, [], "--completion '{{ answer }}'"),
            (#"{"prompt":"a","completion":"b"}"#, ["--temperature", "1"], "temperature has no meaning"),
            (#"{"prompt":"a","completion":"b"}"#, ["--output-format", "openai"], "openai holds answers"),
            (
                #"{"prompt":"a","completion":"b"}"#, ["--output-format", "csv"],
                "csv has no columns for the results of task: score"
            ),
        ] {
            let job = try DemoJob([line], more)
            defer { job.remove() }
            let result = try score(job)
            let isUsage = !more.isEmpty
            #expect(result.status == (isUsage ? 64 : 65), "\(result.errors)")
            #expect(result.errors.contains(message), "\(result.errors)")
            #expect(try job.files == ["in.jsonl"])
        }
        let job = try DemoJob([#"{"prompt":"One two","completion":" three"}"#], ["--no-chat"])
        defer { job.remove() }
        let check = try score(job, ["--dry-run"])
        #expect(check.status == 0 && check.output.contains("scored     1 token"), "\(check)")
    }
}
