import Foundation
import Testing

/// OpenAI's batch files through the real program.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct OpenAIBatchTests {
    private static let lines = [
        #"{"custom_id":"chat","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt","messages":[{"role":"user","content":"Name a color."}],"max_completion_tokens":6,"n":2,"temperature":0.9,"logprobs":true,"top_logprobs":2}}"#,
        #"{"custom_id":"text","method":"POST","url":"/v1/completions","body":{"prompt":"Once upon a time","max_tokens":5,"temperature":0,"logprobs":1}}"#,
        #"{"custom_id":"response","method":"POST","url":"/v1/responses","body":{"input":"Hello","instructions":"Be kind.","max_output_tokens":4,"temperature":0}}"#,
        #"{"custom_id":"tools","method":"POST","url":"/v1/chat/completions","body":{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}]}}"#,
        #"{"custom_id":"calls","method":"POST","url":"/v1/chat/completions","body":{"messages":[{"role":"user","content":"Paint two walls."},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"paint","arguments":"{\"color\":\"red\"}"}}]},{"role":"tool","tool_call_id":"c","content":"done"},{"role":"user","content":"And now blue."}],"max_completion_tokens":120,"temperature":1,"tools":[{"type":"function","function":{"name":"paint","description":"Paints a wall.","parameters":{"type":"object","properties":{"color":{"enum":["red","blue"]},"walls":{"type":"array","items":{"type":"object","properties":{"number":{"type":"integer","minimum":1,"maximum":4}},"required":["number"]},"minItems":1,"maxItems":2}},"required":["color","walls"],"additionalProperties":false}}}],"tool_choice":"required","parallel_tool_calls":false}}"#,
        #"{"custom_id":"call","method":"POST","url":"/v1/responses","body":{"input":"Paint it.","max_output_tokens":60,"temperature":0,"tools":[{"type":"function","name":"paint","parameters":{"type":"object","properties":{"color":{"enum":["red","blue"]}},"required":["color"],"additionalProperties":false}}],"tool_choice":{"type":"function","name":"paint"}}}"#,
        "{",
    ]

    private func job() throws -> DemoJob { try DemoJob(Self.lines, ["--max-failures", "2"]) }

    @Test func batchFilesAreAnsweredAsBatchFiles() throws {
        let job = try job()
        defer { job.remove() }
        let run = try job.run()
        #expect(run.status == 0 && run.errors.contains("as results: 6 done, 2 failed"), "\(run.errors)")
        let output = try String(contentsOfFile: job.folder + "/out.jsonl", encoding: .utf8)
        #expect(output.split(separator: "\n").count == 7)
        let again = try job.run()
        #expect(again.status == 0 && again.errors.contains("nothing to do"), "\(again.errors)")
        #expect(try String(contentsOfFile: job.folder + "/out.jsonl", encoding: .utf8) == output)
        // Calls of both kinds, with arguments that are JSON in a text.
        #expect(output.components(separatedBy: #""name":"paint","arguments":"{\"color\":\""#).count == 3)
        #expect(
            output.contains(#""finish_reason":"tool_calls""#) && output.contains(#""type":"function_call""#))
        // To a stream the same, and by one worker.
        let streamed = try Program.run(
            ["run", "--model", job.model, "--input", "in.jsonl", "--output", "-", "--workers", "1"]
                + job.settings, folder: job.folder)
        #expect(streamed.output == output)
        let status = try Program.run(["status", job.folder + "/out.jsonl"])
        #expect(status.output.contains("complete") && status.output.contains("8 of 8"), "\(status.output)")
        let check = try Program.run(["verify", job.folder + "/out.jsonl", "--file-only"])
        #expect(check.status == 0 && check.output.contains("as they were written"), "\(check)")
    }

    /// Python's own types, where they are there: CI installs them and says where in PHIBATCH_OPENAI.
    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["PHIBATCH_OPENAI"] != nil,
            "PHIBATCH_OPENAI names no folder with Python's openai package, which CI gets over the network"))
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
        #expect(found.map { $0[0] } == ["chat", "text", "response", "tools", "calls", "call", "7"])
        #expect(found.map { $0[1] } == ["200", "200", "200", "400", "200", "200", "400"])
        #expect(found[1][2] == "5" && found[3][2] == "bad_field" && found[6][2] == "invalid_json")
        // Calls by name, with arguments that parse.
        #expect(found[4][3].hasPrefix("paint {\"color\"") && found[5][3].hasPrefix("paint {\"color\""))
    }
}
