import Foundation
import Testing

/// Jobs with choices on a real model.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct ChoicesTests {
    private static let texts = [
        "I love it.", "It broke after two days.", "The parcel came on Tuesday.", "Never again!",
        "Fine, I think.",
        "What a waste of money.",
    ]
    /// Choices of one token and of several; some begin alike, and one is another's beginning.
    private static let choices = [
        "positive", "negative", "neutral", "positively great", "positively great, really",
    ]
    private static let lines = texts.enumerated().map {
        "{\"id\":\"\($0)\",\"prompt\":\"Is this review positive, negative or neutral? Answer with one word. Review: \($1)\"}"
    }
    private static let options = choices.flatMap { ["--choices", $0] }

    @Test func tablesAndOpenAIsFormatHaveProbabilities() throws {
        let job = try DemoJob(Self.lines, Self.options)
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
