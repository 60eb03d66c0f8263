import Foundation
import Testing

/// Steps in a row: the results of one are the lines of the next.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct PipelineTests {
    private static let count = 300

    private struct Pipeline {
        let first: DemoJob
        var folder: String { first.folder }

        init() throws {
            first = try DemoJob(Pipeline.lines(), ["--max-tokens", "2", "--no-chat", "--keep", "weight"])
        }

        static func lines(_ changed: [Int: String] = [:]) -> [String] {
            (0..<PipelineTests.count).map {
                "{\"id\":\"q\($0)\",\"prompt\":\"\(changed[$0] ?? "The number \($0) is")\",\"weight\":\($0).50}"
            }
        }

        func write(_ changed: [Int: String]) throws {
            try Data(Self.lines(changed).map { $0 + "\n" }.joined().utf8)
                .write(to: URL(filePath: folder + "/in.jsonl"))
        }

        /// Runs both steps. - Returns: how many results each has made.
        func run(_ more: [String] = []) throws -> [Int] {
            let one = try first.run(more)
            let two = try RunningProgram(
                [
                    "run", "--model", first.model, "--input", "out.jsonl", "--output", "judged.jsonl",
                    "--no-chat",
                    "--prompt", "True: {{ text }}", "--max-tokens", "2", "--keep", "all",
                ] + more, folder: folder
            ).end()
            return try [one, two].map { result in
                try #require(result.status == 0, "\(result.errors)")
                if result.errors.contains("nothing to do") { return 0 }
                let done = try #require(
                    result.errors.firstMatch(of: /lines: (\d+) done/), "\(result.errors)")
                return try #require(Int(done.1))
            }
        }

        func text(_ name: String) throws -> String {
            try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
        }
    }

    @Test func whatHasNotChangedIsNotDoneAgain() throws {
        let pipeline = try Pipeline()
        defer { pipeline.first.remove() }
        #expect(try pipeline.run() == [300, 300])
        let (answers, judged) = (try pipeline.text("out.jsonl"), try pipeline.text("judged.jsonl"))
        #expect(judged.contains("\"weight\":7.50,"))
        #expect(try pipeline.run() == [0, 0])

        // Made anew, with other times, places in time and sums: the same answers.
        for name in ["out.jsonl", "out.jsonl.settings"] {
            try FileManager.default.removeItem(atPath: pipeline.folder + "/" + name)
        }
        #expect(try pipeline.run() == [300, 0])
        #expect(try pipeline.text("out.jsonl") != answers && pipeline.text("judged.jsonl") == judged)

        // One line in the middle; that one as before, and the first.
        let sea = "Instead, the sea is full of"
        try pipeline.write([150: sea])
        #expect(try pipeline.run() == [1, 1])
        try pipeline.write([0: sea])
        #expect(try pipeline.run(["--if-changed", "restart"]) == [2, 2])
    }

    @Test func aStepOfOneLineFollowsToo() throws {
        let job = try DemoJob(["{\"prompt\":\"Rain is\"}"], ["--max-tokens", "2", "--no-chat"])
        defer { job.remove() }
        for prompt in ["Rain is", "Snow is", "Hail is"] {
            try Data("{\"prompt\":\"\(prompt)\"}\n".utf8).write(to: URL(filePath: job.folder + "/in.jsonl"))
            let result = try job.run(["--if-changed", "restart"])
            #expect(result.status == 0 && job.results?.count == 1, "\(result.errors)")
        }
        #expect(try job.files == ["in.jsonl", "out.jsonl", "out.jsonl.old-1", "out.jsonl.old-2"])
    }
}
