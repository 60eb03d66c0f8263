import Foundation
import Testing

/// OpenAI's batch files through the real program.
@Suite(.enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct OpenAIBatchTests {
    private static let lines = [
        #"{"custom_id":"chat","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt","messages":[{"role":"user","content":"Name a color."}],"max_completion_tokens":6,"n":2,"temperature":0.9,"logprobs":true,"top_logprobs":2}}"#,
        #"{"custom_id":"text","method":"POST","url":"/v1/completions","body":{"prompt":"Once upon a time","max_tokens":5,"temperature":0,"logprobs":1}}"#,
        #"{"custom_id":"response","method":"POST","url":"/v1/responses","body":{"input":"Hello","instructions":"Be kind.","max_output_tokens":4,"temperature":0}}"#,
        #"{"custom_id":"tools","method":"POST","url":"/v1/chat/completions","body":{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}]}}"#,
        "{",
    ]

    private func job() throws -> DemoJob { try DemoJob(Self.lines, ["--max-failures", "2"]) }

    @Test func batchFilesAreAnsweredAsBatchFiles() throws {
        let job = try job()
        defer { job.remove() }
        let run = try job.run()
        #expect(run.status == 0 && run.errors.contains("as results: 4 done, 2 failed"), "\(run.errors)")
        let output = try String(contentsOfFile: job.folder + "/out.jsonl", encoding: .utf8)
        #expect(output.split(separator: "\n").count == 5)
        let again = try job.run()
        #expect(again.status == 0 && again.errors.contains("nothing to do"), "\(again.errors)")
        #expect(try String(contentsOfFile: job.folder + "/out.jsonl", encoding: .utf8) == output)
        // To a stream the same, and by one worker.
        let streamed = try Program.run(
            ["run", "--model", job.model, "--input", "in.jsonl", "--output", "-", "--workers", "1"]
                + job.settings, folder: job.folder)
        #expect(streamed.output == output)
        let status = try Program.run(["status", job.folder + "/out.jsonl", "--check"])
        #expect(status.output.contains("complete") && status.output.contains("6 of 6"), "\(status.output)")
    }

    /// Python's own types, where they are there: CI installs them and says where in PHIBATCH_OPENAI.
    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["PHIBATCH_OPENAI"] != nil,
            "PHIBATCH_OPENAI doesn't say where Python's openai package is"))
    func resultsLoadWithTheTypesOfPythonsPackage() throws {
        let job = try job()
        defer { job.remove() }
        #expect(try job.run().status == 0)
        let script =
            URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path
            + "/OpenAI/batch_types.py"
        let python = try RunningProgram(
            ["python3", script, "out.jsonl"],
            environment: ["PYTHONPATH": ProcessInfo.processInfo.environment["PHIBATCH_OPENAI"] ?? ""],
            folder: job.folder, program: "/usr/bin/env"
        ).end()
        #expect(python.status == 0, "\(python.errors)")
        let found = python.output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
        #expect(found.map { $0[0] } == ["chat", "text", "response", "tools", "5"])
        #expect(found.map { $0[1] } == ["200", "200", "200", "400", "400"])
        #expect(found[1][2] == "5" && found[3][2] == "bad_field" && found[4][2] == "invalid_json")
    }

    @Test func aNativeOutputHoldsOneAnswerALine() throws {
        let job = try DemoJob(Self.lines, ["--output-format", "jsonl", "--max-failures", "5"])
        defer { job.remove() }
        let run = try job.run()
        #expect(run.status == 0 && run.errors.contains("`n` above 1 needs"), "\(run.errors)")
        let results = try #require(job.results)
        #expect(results.count == 5 && results[1].contains("\"logprobs\":"))
    }
}
