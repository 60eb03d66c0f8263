import Foundation
import Testing

/// `phibatch check`: what a run would meet.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct CheckCommandTests {
    private func check(_ job: DemoJob, _ more: [String] = [], command: [String] = ["check"]) throws
        -> Program.Result
    {
        try RunningProgram(command + job.arguments(more), folder: job.folder).end()
    }

    @Test func aGoodJobIsShownAndTimed() throws {
        let job = try DemoJob(
            (1...20).map { "{\"prompt\": \"Count to \($0).\"}" }, ["--max-tokens", "8", "--samples", "2"])
        let result = try check(job)
        #expect(result.status == 0, "\(result.errors)")
        for part in [
            "<|im_start|>user", "Count to 1.", "lines      20", "results    40", "at most 320 tokens",
            "time       at most",
        ] {
            #expect(result.output.contains(part), "\(part)\n\(result.output)")
        }
        #expect(try job.files == ["in.jsonl"], "nothing is written")
        let dry = try check(job, ["--dry-run"], command: ["run"])
        #expect(dry.status == 0 && dry.output.contains("lines      20"), "\(dry.output)\(dry.errors)")
        #expect(try job.files == ["in.jsonl"])
    }

    @Test func linesThatWouldFailAreNamed() throws {
        let long = String(repeating: "word ", count: 9000)
        let job = try DemoJob(
            [
                "{\"id\": \"a\", \"prompt\": \"Hi\"}", "{\"id\": \"a\", \"prompt\": \"Hi\"}", "oops",
                "{\"prompt\": \"\(long)\"}", "{\"error\": {\"code\": \"x\", \"message\": \"y\"}}",
            ], ["--max-tokens", "8"])
        let result = try check(job, ["--no-estimate", "--json"])
        #expect(result.status == 3, "\(result.errors)")
        for part in [
            "\"lines\":4", "\"passed_over\":1", "\"would_fail\":3", "duplicate_id", "invalid_json",
            "prompt_too_long",
        ] {
            #expect(result.output.contains(part), "\(part)\n\(result.output)")
        }
        #expect(try check(job, ["--no-estimate", "--max-failures", "3"]).status == 0)
        let real = try job.run(["--max-failures", "3"])
        #expect(real.status == 0 && real.errors.contains("4 lines: 1 done, 3 failed"), "\(real.errors)")
        let changed = try check(job, ["--no-estimate", "--max-failures", "3", "--seed", "4"])
        #expect(changed.status == 65 && changed.output.contains("job.seed: 0 -> 4"), "\(changed.output)")
    }

    private func job(schema: String) throws -> DemoJob {
        let job = try DemoJob(
            [#"{"prompt": "Hi"}"#], ["--schema", "s.json", "--max-tokens", "40", "--no-estimate"])
        try schema.write(toFile: job.folder + "/s.json", atomically: true, encoding: .utf8)
        return job
    }

    @Test func theFormOfAnswersIsTold() throws {
        let schema = #"""
            {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}, "tags": {"uniqueItems": true}},
             "required": ["age"], "additionalProperties": false}
            """#
        let job = try job(schema: schema)
        let said = try check(job)
        #expect(said.status == 0, "\(said.errors)")
        #expect(said.output.contains("#/properties/tags/uniqueItems;"), "\(said.output)")
        #expect(said.output.contains(#": {"age":0}"# + "\n"), "\(said.output)")
        let json = try check(job, ["--json"]).output
        #expect(
            json.contains(#""validated":["#) && json.contains(#""shortest":"{\"age\":0}""#), "\(json)")
    }
}
