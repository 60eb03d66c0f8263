import Foundation
import Testing

/// Outputs as tables, files of failed lines, and inputs by pattern, through the real program.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct FailedLinesTests {
    private static let settings = ["--max-tokens", "4", "--max-failures", "2"]
    private static let lines = [
        #"{"id": "a", "prompt": "Say \"hi\", please", "topic": "rain, \"snow\"\n", "n": 3}"#,
        #"{"id": "bad"}"#, #"{"id": "b", "prompt": "Salt?", "topic": null}"#, "not json",
    ]

    private func text(_ job: DemoJob, _ name: String) throws -> String {
        try String(contentsOfFile: job.folder + "/" + name, encoding: .utf8)
    }

    @Test func aTableHasARowForEachResult() throws {
        let job = try DemoJob(Self.lines, Self.settings + ["--output-format", "csv"])
        defer { job.remove() }
        let keep = ["--keep", "topic", "--keep", "count=n"]
        let run = try job.run(keep)
        #expect(run.status == 0, "\(run.errors)")
        let table = try text(job, "out.jsonl")
        let rows = table.split(separator: "\n")
        #expect(
            rows[0]
                == "id,sample,text,finish_reason,prompt_tokens,completion_tokens,seed,error,error_message,topic,count"
        )
        #expect(rows[1].hasPrefix("a,0,") && rows[1].contains(",length,"))
        #expect(rows[1].hasSuffix(",4,0,,,\"rain, \"\"snow\"\"") && rows[2] == "\",3")
        #expect(rows[3].hasPrefix("bad,0,,,,,,missing_prompt,") && rows[3].hasSuffix(",,"))
        #expect(rows[4].hasPrefix("b,0,") && rows[5].hasPrefix("4,0,,,,,,invalid_json,"))

        // It is taken up and checked like any other output.
        let again = try job.run(keep)
        #expect(again.errors.contains("nothing to do"), "\(again.errors)")
        #expect(try Program.run(["verify", "out.jsonl", "--file-only"], folder: job.folder).status == 0)
        let verified = try Program.run(
            ["verify"] + job.arguments(keep + ["--sample", "4", "-q"]), folder: job.folder)
        #expect(verified.status == 0, "\(verified.errors) \(verified.output)")
        let other = try job.run(["--keep", "topic", "--if-changed", "keep"])
        #expect(other.status == 0, "\(other.errors)")
        let narrow = try text(job, "out.jsonl")
        #expect(narrow != table && narrow.split(separator: "\n")[0].hasSuffix(",topic"))
        try narrow.replacing(",length,", with: ",stop,", maxReplacements: 1)
            .write(toFile: job.folder + "/out.jsonl", atomically: true, encoding: .utf8)
        #expect(try Program.run(["verify", "out.jsonl", "--file-only"], folder: job.folder).status == 1)
    }

    @Test func anothersFileIsNotTakenForFailedLines() throws {
        let job = try DemoJob(Self.lines, Self.settings + ["--errors", "mine"])
        defer { job.remove() }
        try "mine\n".write(toFile: job.folder + "/mine", atomically: true, encoding: .utf8)
        let run = try job.run()
        #expect(run.status == 65 && run.errors.contains("mine: is there"), "\(run.errors)")
        #expect(try text(job, "mine") == "mine\n")
        // Nor is another job's output, whatever its format and its first line.
        for format in ["jsonl", "csv", "openai"] {
            let other = ["--output", "other.\(format)", "--output-format", format, "--max-failures", "2"]
            try Self.lines.reversed().map { $0 + "\n" }.joined()
                .write(toFile: job.folder + "/lines", atomically: true, encoding: .utf8)
            let made = try RunningProgram(
                ["run", "--model", job.model, "--input", "lines", "--max-tokens", "1"] + other,
                folder: job.folder
            ).end()
            #expect(made.status == 0, "\(made.errors)")
            let before = try text(job, "other.\(format)")
            let run = try RunningProgram(
                [
                    "run", "--model", job.model, "--input", "in.jsonl", "--output", "new.jsonl", "--errors",
                    "other.\(format)", "--output-format", "jsonl",
                ], folder: job.folder
            ).end()
            #expect(run.status == 65 && run.errors.contains("other.\(format): is "), "\(run.errors)")
            #expect(try text(job, "other.\(format)") == before)
        }
        for (more, what, status) in [
            (["--errors", "x", "--output", "-"], "errors needs two files", 64),
            (["--errors", "in.jsonl"], "would overwrite the input", 65),
            (["--errors", "x", "--shard", "1/2"], "shard", 64),
        ] {
            let job = try DemoJob(Self.lines, Self.settings)
            defer { job.remove() }
            let run = try RunningProgram(
                ["run", "--model", job.model, "--input", "in.jsonl"]
                    + (more.contains("--output") ? [] : ["--output", "o"]) + more, folder: job.folder
            ).end()
            #expect(run.status == status && run.errors.contains(what), "\(run.errors)")
        }
    }
}
