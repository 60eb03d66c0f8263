import Foundation
import OperatingSystem
import PhiModel
import Testing

/// Jobs with choices on a real model.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct ChoicesTests {
    private struct Chosen: Decodable {
        var text: String
        var probabilities: [String: Double]
        var tokens: [Int32]?
    }
    private struct Ranking: Decodable {
        struct Score: Decodable { var logprob: Double }
        var scores: [Score]
    }

    private func decode<Row: Decodable>(_ job: DemoJob, _ type: Row.Type) throws -> [Row] {
        try (job.results ?? []).map { try JSONDecoder().decode(type, from: Data($0.utf8)) }
    }

    private static let texts = [
        "I love it.", "It broke after two days.", "The parcel came on Tuesday.", "Never again!",
        "Fine, I think.",
        "What a waste of money.",
    ]
    /// Choices of one token and of several; some begin alike, and one is another's beginning.
    private static let choices = [
        "positive", "negative", "neutral", "positively great", "positively great, really",
    ]
    private static func lines(_ more: (Int) -> String = { _ in "" }) -> [String] {
        texts.enumerated().map {
            "{\"id\":\"\($0)\",\"prompt\":\"Is this review positive, negative or neutral? Answer with one word. Review: \($1)\"\(more($0))}"
        }
    }
    private static let options = choices.flatMap { ["--choices", $0] }

    /// Each probability is, to the last bit, that of the whole text and the end after it (of which the demo model has
    /// one) as `task: score` says it, normalized.
    @Test func probabilitiesAreThoseOfScores() throws {
        let job = try DemoJob(Self.lines(), Self.options + ["--tokens"])
        defer { job.remove() }
        let result = try job.run()
        #expect(result.status == 0, "\(result.errors)")
        let found = try decode(job, Chosen.self)
        let all = Self.choices.map { $0 + "<|im_end|>" }
        let json = String(decoding: try JSONEncoder().encode(all), as: UTF8.self)
        let scoring = try DemoJob(
            Self.lines { _ in ",\"completion\":\(json)" }, ["--task", "score", "--control-tokens", "parse"])
        defer { scoring.remove() }
        let scored = try scoring.run()
        #expect(scored.status == 0, "\(scored.errors)")
        for (one, ranking) in zip(found, try decode(scoring, Ranking.self)) {
            let whole = ranking.scores.map(\.logprob)
            let most = whole.max() ?? 0
            let weights = whole.map { FixedArithmetic.exp($0 - most) }
            let sum = weights.reduce(0, +)
            for (choice, weight) in zip(Self.choices, weights) {
                #expect(one.probabilities[choice] == weight / sum)
            }
            let best = one.probabilities.max { $0.value < $1.value }
            #expect(best?.key == one.text && one.tokens?.isEmpty == false)
            #expect(abs(one.probabilities.values.reduce(0, +) - 1) < 1e-12)
        }
        #expect(Set(found.map(\.text)).count > 1, "the comparison must mean something")
    }

    @Test func sameBytesHoweverItRuns() throws {
        let lines = Self.lines { $0 % 2 == 0 ? "" : ",\"temperature\":1.5,\"seed\":\($0)" }
        let job = try DemoJob(lines, Self.options)
        defer { job.remove() }
        #expect(try job.run(["--workers", "1", "--threads", "1"]).status == 0)
        let expected = try #require(job.results)
        for options in [
            ["--workers", "6", "--threads", "2"], ["--workers", "3", "--prefill-chunk", "5"],
        ] {
            let result = try job.run(options + ["--restart"])
            #expect(result.status == 0 && job.results == expected, "\(options) \(result.errors)")
        }
        // One line: these kernels take most of a minute for all.
        let slow = try DemoJob([lines[0]], Self.options)
        defer { slow.remove() }
        let reference = try slow.run(environment: ["PHIBATCH_KERNELS": "reference"])
        #expect(reference.status == 0 && slow.results == [expected[0]], "\(reference.errors)")
        let verified = try RunningProgram(
            ["verify", "out.jsonl"] + job.arguments().filter { $0 != "--output" && $0 != "out.jsonl" }
                + ["--sample", "100%"], folder: job.folder
        ).end()
        #expect(verified.status == 0, "\(verified.errors)")
        // Killed with some lines done.
        let again = try DemoJob(
            (0..<8).flatMap { round in lines.map { $0.replacing("\"id\":\"", with: "\"id\":\"\(round)-") } },
            Self.options)
        defer { again.remove() }
        #expect(try again.run().status == 0)
        let whole = try #require(again.results)
        let running = try again.start(["--restart", "--workers", "2", "--threads", "1"])
        let journal = URL(filePath: again.folder + "/out.jsonl.journal")
        try running.wait(for: "results") {
            ((try? Data(contentsOf: journal))?.count { $0 == 0x0a } ?? 1) - 1 >= 3
        }
        running.send(SIGKILL)
        #expect(try running.end().status != 0)
        let rest = try again.run()
        #expect(rest.status == 0 && again.results == whole, "\(rest.errors)")
    }

    @Test func tablesAndOpenAIsFormatHaveProbabilities() throws {
        let job = try DemoJob(Self.lines(), Self.options)
        defer { job.remove() }
        let options = ["--model", job.model, "--input", "in.jsonl"] + Self.options
        let table = try RunningProgram(["run"] + options + ["--output", "out.csv"], folder: job.folder).end()
        #expect(table.status == 0, "\(table.errors)")
        let rows = try String(contentsOfFile: job.folder + "/out.csv", encoding: .utf8).split(separator: "\n")
        #expect(rows.count == 7 && rows[0].contains(",seed,probability,probabilities,error,"))
        #expect(rows[1].contains(/,0,0\.\d+,"\{""positive"":/), "\(rows[1])")
        let request =
            #"{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"messages":[{"role":"user","content":"Good?"}],"#
        try Data(
            (request + "\"n\":2}}\n" + request.replacing("\"a\"", with: "\"b\"")
                + "\"choices\":[\"a\",\"b\"]}}\n").utf8
        )
        .write(to: URL(filePath: job.folder + "/in.jsonl"))
        let answers = try job.run(["--max-failures", "1"])
        #expect(answers.status == 0, "\(answers.errors)")
        let lines = try #require(job.results)
        #expect(
            lines[0].components(separatedBy: "\"probabilities\":{\"positive\":").count == 3, "\(lines[0])")
        #expect(lines[1].contains("`choices` is not supported"), "\(lines[1])")
    }
}
