import Foundation
import Testing

/// Several jobs in one run, and runs that follow a growing input, through the real program.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct SeveralJobsTests {
    private static func lines(_ names: [String]) -> String {
        names.map { "{\"id\": \"\($0)\", \"prompt\": \"Tell me about \($0).\"}\n" }.joined()
    }

    private func write(_ text: String, _ name: String, _ job: DemoJob) throws {
        try text.write(toFile: job.folder + "/" + name, atomically: true, encoding: .utf8)
    }

    private func append(_ text: String, _ name: String, _ job: DemoJob) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: job.folder + "/" + name))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    private func results(_ name: String, _ job: DemoJob) -> String {
        let bytes = FileManager.default.contents(atPath: job.folder + "/" + name) ?? Data()
        return String(decoding: bytes, as: UTF8.self).replacing(/,"timing":\{[^{}]*\}/, with: "")
    }

    @Test func jobsOnOneModelShareIt() throws {
        let job = try DemoJob([], [])
        for (name, tokens) in [("a", 3), ("b", 5), ("bad", 3), ("twice", 3)] {
            try write(Self.lines(["\(name)1", "\(name)2", "\(name)3"]), "\(name).jsonl", job)
            let output = name == "twice" ? "b" : name
            try write(
                "model: \(job.model)\ninput: \(name).jsonl\noutput: \(output).out\nmax_tokens: \(tokens)\n",
                "\(name).yaml", job)
        }
        try write("not json\n" + Self.lines(["x"]), "bad.jsonl", job)
        let files = ["a", "b", "bad", "twice"].map { "\($0).yaml" }
        let run = try Program.run(
            ["run"] + files + ["--metrics-file", "numbers", "--temperature", "1"], folder: job.folder)
        // That of the first that did not end well.
        #expect(run.status == 3, "\(run.errors)")
        #expect(run.errors.split(separator: "\n").count { $0.contains("loading the model") } == 1)
        #expect(run.errors.contains("phibatch[a]: 3 lines: 3 done"), "\(run.errors)")
        #expect(run.errors.contains("phibatch[bad]: failed lines: 1"), "\(run.errors)")
        #expect(run.errors.contains("phibatch[twice]: ") && run.errors.contains("the output of another job"))
        let numbers = results("numbers", job)
        #expect(numbers.contains("phibatch_exit_status{job=\"a\"} 0"), "\(numbers)")
        #expect(numbers.contains("phibatch_exit_status{job=\"bad\"} 3"), "\(numbers)")
        #expect(numbers.components(separatedBy: "# TYPE phibatch_results_done").count == 2)
        // Each as if it had been alone.
        for name in ["a", "b"] {
            let together = results("\(name).out", job)
            let alone = try Program.run(
                ["run", "\(name).yaml", "--restart", "--temperature", "1"], folder: job.folder)
            #expect(alone.status == 0, "\(alone.errors)")
            #expect(together.contains("\(name)3") && results("\(name).out", job) == together)
        }
        #expect(results("bad.out", job).contains("\"error\""))
    }

    @Test func aGrowingInputIsFollowed() throws {
        let job = try DemoJob([], ["--max-tokens", "3"])
        try FileManager.default.createDirectory(
            atPath: job.folder + "/queue", withIntermediateDirectories: true)
        let arguments = [
            "run", "--model", job.model, "--max-tokens", "3", "--input", "queue/*", "--output",
        ]
        let run = try RunningProgram(arguments + ["out.jsonl", "--follow"], folder: job.folder)
        func count() -> Int { results("out.jsonl", job).split(separator: "\n").count }
        try write(Self.lines(["a", "b"]), "queue/1", job)
        try run.wait(for: "the first file") { count() == 2 }
        try append(Self.lines(["c"]), "queue/1", job)
        try run.wait(for: "a line more") { count() == 3 }
        // A line is taken once it is whole.
        let line = Self.lines(["d"])
        try write(String(line.prefix(9)), "part", job)
        try FileManager.default.moveItem(
            atPath: job.folder + "/part", toPath: job.folder + "/queue/2")
        try run.wait(for: "an incomplete line") { run.errorsSoFar.contains("line is incomplete") }
        try append(String(line.dropFirst(9)), "queue/2", job)
        try run.wait(for: "its end") { count() == 4 }
        run.send(SIGTERM)
        let end = try run.end()
        #expect(end.status == 0, "\(end.errors)")
        let followed = results("out.jsonl", job)
        let whole = try RunningProgram(arguments + ["whole.jsonl"], folder: job.folder).end()
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(followed == results("whole.jsonl", job))
    }

    @Test func aRotatedFileLosesNothing() throws {
        let job = try DemoJob([], [])
        try write(Self.lines(["a", "b", "c"]), "log", job)
        let run = try RunningProgram(
            [
                "run", "--model", job.model, "--max-tokens", "2", "--input", "log", "--output", "out.jsonl",
                "--follow",
            ], folder: job.folder)
        try run.wait(for: "its lines") { results("out.jsonl", job).split(separator: "\n").count == 3 }
        let before = results("out.jsonl", job)
        try write(Self.lines(["d"]), "new", job)
        #expect(rename(job.folder + "/new", job.folder + "/log") == 0)
        let end = try run.end(within: 300)
        #expect(end.status == 65, "\(end.errors)")
        #expect(results("out.jsonl", job) == before)
    }

    /// One run waits for the other, which is itself.
    @Test(arguments: ["--wait", "--skip-if-running"]) func aJobDoesntWaitForItself(option: String) throws {
        let job = try DemoJob([], [])
        try write(Self.lines(["a"]), "a.jsonl", job)
        try FileManager.default.createSymbolicLink(
            atPath: job.folder + "/two.out", withDestinationPath: "one.out")
        for name in ["one", "two"] {
            try write(
                "model: \(job.model)\ninput: a.jsonl\noutput: \(name).out\nmax_tokens: 2\n", "\(name).yaml",
                job)
        }
        let run = try RunningProgram(["run", option, "one.yaml", "two.yaml"], folder: job.folder)
        let end = try run.end(within: 300)
        #expect(end.status == 65, "\(end.errors)")
        #expect(end.errors.contains("phibatch[two]: one.out: the output would overwrite"), "\(end.errors)")
        #expect(results("one.out", job).contains("\"id\":\"a\""))
    }

    /// Two steps in a pipe: the first line comes out of the second before the next one goes into the first.
    @Test func aPipeFlowsLineByLine() throws {
        let job = try DemoJob([], [])
        try write(Self.lines(["a"]), "a", job)
        try write(Self.lines(["b"]), "b", job)
        let run = try RunningProgram(
            [
                "-c",
                """
                { cat a; until [ -e go ]; do sleep 0.05; done; cat b; } |
                "$0" run --model "$1" --input - --output - --max-tokens 3 -q |
                "$0" run --model "$1" --input - --output - --max-tokens 3 -q --prompt '{{ text }}'
                """, Program.path ?? "", job.model,
            ], folder: job.folder, program: "/bin/sh")
        try run.wait(for: "the first result") { run.outputSoFar.contains("\"id\":\"a\"") }
        #expect(!run.outputSoFar.contains("\"id\":\"b\""))
        try write("", "go", job)
        let end = try run.end()
        #expect(end.status == 0 && end.output.contains("\"id\":\"b\""), "\(end.errors)")
    }
}
