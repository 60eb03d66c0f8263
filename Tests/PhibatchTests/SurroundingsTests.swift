import Foundation
import Testing

/// Runs where something is missing or scarce.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct SurroundingsTests {
    private static let lines = (0..<4).map { "{\"id\":\"n\($0)\",\"prompt\":\"Count up from \($0).\"}" }

    private func expected() throws -> [String] {
        let job = try job()
        defer { job.remove() }
        #expect(try job.run().status == 0)
        return try #require(job.results)
    }

    private func job() throws -> DemoJob { try DemoJob(Self.lines, ["--max-tokens", "8"]) }

    /// A file that is opened must not get the number of a stream that was closed: messages would go into it.
    @Test func closedStreamsHarmNothing() throws {
        let expected = try expected()
        let job = try job()
        defer { job.remove() }
        #expect(try job.shell("exec <&- >&- 2>&-; \"$@\"").status == 0)
        #expect(job.results == expected)
        #expect(try job.files == ["in.jsonl", "out.jsonl"])
        let result = try RunningProgram(
            ["-c", "exec >&-; \"$@\"", "sh", try #require(Program.path), "run", "--model", job.model]
                + ["--input", "in.jsonl", "--output", "-"], folder: job.folder, program: "/bin/sh"
        ).end()
        #expect(
            result.status == 74 && result.errors.contains("stdout: cannot be written"), "\(result.errors)")
    }

    /// Whoever has read enough, such as head, ends the others without a word.
    @Test func aFilterWhoseReaderHasGoneIsSilent() throws {
        let job = try job()
        defer { job.remove() }
        // The reader has left before anything is written.
        let script = """
            model=$1; shift
            for input in texts questions; do
                case $input in
                    texts) command="tokenize --model $model texts" ;;
                    questions) command="chat $model --max-tokens 4 --quiet" ;;
                esac
                mkfifo gone-$input
                { : <gone-$input; "$0" $command <$input 2>errors-$input; echo $? >status-$input; } | { exec <&-; : >gone-$input; }
            done
            """
        let texts = (0..<20_000).map { "{\"text\":\"number \($0)\"}\n" }.joined()
        try Data(texts.utf8).write(to: URL(filePath: job.folder + "/texts"))
        try Data("Hello\nHello\n".utf8).write(to: URL(filePath: job.folder + "/questions"))
        let result = try RunningProgram(
            ["-c", script, try #require(Program.path), job.model], folder: job.folder, program: "/bin/sh"
        ).end()
        #expect(result.status == 0, "\(result.errors)")
        for input in ["texts", "questions"] {
            let said = try ["status", "errors"].map {
                try String(contentsOfFile: "\(job.folder)/\($0)-\(input)", encoding: .utf8)
            }
            #expect(said == ["141\n", ""], "\(input): \(said)")
        }
    }

    /// A limit on the size of files is the one kind of full disk that needs no rights to make.
    @Test func aFullDiskLosesNothing() throws {
        let expected = try expected()
        let job = try job()
        defer { job.remove() }
        // In units of 512 bytes: the journal takes 3 for its header, then almost 1 a result.
        let first = try job.shell("ulimit -f 4; \"$@\"", ["--workers", "1"])
        #expect(first.status == 74 && job.results == nil)
        #expect(first.errors.contains("out.jsonl.journal: cannot be written: "), "\(first.errors)")
        #expect(first.errors.contains("what was done is kept in out.jsonl.journal"), "\(first.errors)")
        let second = try job.run()
        #expect(second.status == 0 && job.results == expected, "\(second.errors)")
        #expect(second.errors.contains("results of an earlier run: "), "\(second.errors)")
    }

    /// Many results, with and without a cache folder. As none has a prompt, no model is loaded.
    @Test func manyResultsLeaveNothingAnywhereElse() throws {
        let count = 16_500
        let lines = (0..<count).map { "{\"id\":\"n\($0)\"}" } + ["{\"id\":\"n0\"}"]
        let job = try DemoJob(lines, ["--max-failures", "100%"])
        defer { job.remove() }
        #expect(try job.run().status == 0)
        let expected = try #require(job.results)
        #expect(expected.count == count + 1 && expected[count].contains("\"code\":\"duplicate_id\""))

        let noHome = ["PHIBATCH_CACHE": "", "XDG_CACHE_HOME": "", "HOME": ""]
        for var environment in [["PHIBATCH_CACHE": "cache"], ["PHIBATCH_CACHE": "off"], noHome] {
            environment["TMPDIR"] = "/nowhere"
            func run(_ arguments: [String]) throws -> Program.Result {
                try RunningProgram(arguments, environment: environment, folder: job.folder).end()
            }
            let streamed = try run(
                ["run", "--model", job.model, "--input", "in.jsonl", "--output", "-"] + job.settings)
            #expect(streamed.status == 0, "\(streamed.errors)")
            #expect(streamed.output == expected.map { $0 + "\n" }.joined())
            let status = try run(["status", "--json"] + job.arguments())
            #expect(status.status == 0, "\(status.errors)")
            #expect(status.output.contains("\"done\":\(count + 1),"), "\(status.output)")
            let files = try job.files.filter { $0 != "cache" && !$0.hasPrefix("cache/hashes") }
            #expect(files == ["in.jsonl", "out.jsonl"])
        }
    }

    /// The cache folder's disk fills when more results have come than memory holds; stdout is no file.
    @Test func aFullCacheDiskDoesNotEndAStream() throws {
        let count = 16_500
        let job = try DemoJob((0..<count).map { "{\"id\":\"n\($0)\"}" }, ["--max-failures", "100%"])
        defer { job.remove() }
        let script =
            "{ (ulimit -f 0; \"$@\" --output -; echo $? 1>&2) | cat; } >lines 2>status"
        let result = try RunningProgram(
            [
                "-c", script, "sh", try #require(Program.path), "run", "--model", job.model, "--input",
                "in.jsonl",
            ]
                + ["--quiet"] + job.settings,
            environment: ["PHIBATCH_CACHE": "cache"], folder: job.folder, program: "/bin/sh"
        ).end()
        #expect(result.status == 0, "\(result.errors)")
        let lines = try String(contentsOfFile: job.folder + "/lines", encoding: .utf8)
        #expect(lines.count { $0 == "\n" } == count)
    }

    #if os(Linux)
        @Test func tooLittleMemoryIsSaidBeforeLoading() throws {
            let job = try job()
            defer { job.remove() }
            let result = try job.shell("ulimit -v 330000; \"$@\"")
            #expect(result.status == 69)
            // How much the process itself takes differs by machine; where that is most, the file can't be mapped.
            #expect(
                result.errors.contains("there is not enough memory: the model needs")
                    || result.errors.contains("there is not enough memory: the file can't be mapped"),
                "\(result.errors)")
            #expect(try job.files == ["in.jsonl"])
        }
    #endif
}
