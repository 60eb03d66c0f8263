import Foundation
import Testing

/// Results that the real program makes again, on a model of random floats.
@Suite(.enabled(if: Program.path != nil, "the program is not there"))
struct RedoCommandTests {
    private func job() throws -> DemoJob {
        let lines = (0..<12).map { number in
            "{\"id\":\"l\(number)\",\"prompt\":[\((0..<9).map { "\(3 + ($0 * 29 + number) % 1900)" }.joined(separator: ","))]}"
        }
        var job = try DemoJob(lines, ["--threads", "1", "--max-tokens", "6", "--tokens"])
        job.model = job.folder + "/model"
        try PlainModel().write(to: job.model)
        return job
    }

    private func program(_ command: String, _ job: DemoJob, _ more: String...) throws -> Program.Result {
        try RunningProgram([command] + job.arguments(more), folder: job.folder).end()
    }

    @Test func chosenRowsComeOutAnew() throws {
        var job = try job()
        job.settings += ["--temperature", "0.9"]
        #expect(try job.run().status == 0)
        let first = try #require(job.results)
        let condition = ["--where", "usage.completion_tokens > 5 and id in ['l0', 'l1', 'l2']"]
        let looked = try program("redo", job, condition[0], condition[1], "--dry-run")
        #expect(looked.status == 0 && looked.output == "3 of 12 results would be made again\n", "\(looked)")
        #expect(try #require(job.results) == first)
        let redone = try program("redo", job, condition[0], condition[1])
        #expect(redone.status == 0, "\(redone.errors)")
        for said in ["3 of 12 results are made again", "3 made again with the next seed", "out.jsonl.old-1"] {
            #expect(redone.errors.contains(said), "\(redone.errors)")
        }
        let second = try #require(job.results)
        #expect(second.indices.filter { second[$0] != first[$0] } == [0, 1, 2])
        try Data("l2\n".utf8).write(to: URL(filePath: job.folder + "/ids"))
        #expect(try program("redo", job, "--ids", "ids", "-q").status == 0)
        let third = try #require(job.results)
        #expect(third.indices.filter { third[$0] != second[$0] } == [2])
        let (again, check) = (try job.run(), try program("verify", job, "--file-only"))
        #expect(again.status == 0 && again.errors.contains("nothing to do"), "\(again)")
        #expect(check.status == 0, "\(check)")
        let verified = try program("verify", job, "--sample", "100%")
        #expect(verified.status == 0, "\(verified)")
    }
}
