import Foundation
import JSON
import Testing

/// A JSON array in and out, through the real program.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct JSONArrayRunTests {
    private static let lines = (0..<12).map { "{\"id\": \"n\($0)\", \"prompt\": \"Count up from \($0).\"}" }

    /// The job on an array, and the elements of its output without times.
    private struct ArrayJob {
        let job: DemoJob
        var folder: String { job.folder }

        init(_ lines: [String], _ settings: [String] = ["--max-tokens", "6"]) throws {
            job = try DemoJob([], settings)
            try put(lines)
        }

        func put(_ lines: [String], end: String = "\n]\n") throws {
            let text = "[\n" + lines.map { "  " + $0 }.joined(separator: ",\n") + end
            try Data(text.utf8).write(to: URL(filePath: folder + "/in.json"))
        }

        func arguments(_ more: [String] = []) -> [String] {
            ["--model", job.model, "--input", "in.json", "--output", "out.json"] + job.settings + more
        }

        func run(_ command: String = "run", _ more: [String] = []) throws -> Program.Result {
            try Program.run([command] + arguments(more), folder: folder)
        }

        var has: Bool { FileManager.default.fileExists(atPath: folder + "/out.json") }

        var text: String {
            get throws { try String(contentsOfFile: folder + "/out.json", encoding: .utf8) }
        }

        var elements: [String] {
            get throws {
                let text = try text
                _ = try JSONSerialization.jsonObject(with: Data(text.utf8))
                #expect(text.hasPrefix("[") && text.hasSuffix("]\n"))
                return text.split(separator: "\n").dropFirst().dropLast().map {
                    String($0.hasSuffix(",") ? $0.dropLast() : $0)
                        .replacing(/"timing":\{[^{}]*\},/, with: "")
                }
            }
        }
    }

    @Test func whatAnArrayHoldsIsWhatLinesWouldHold() throws {
        let lines = try DemoJob(Self.lines, ["--max-tokens", "6"])
        defer { lines.remove() }
        #expect(try lines.run().status == 0)
        let array = try ArrayJob(Self.lines)
        defer { array.job.remove() }
        let run = try array.run()
        #expect(run.status == 0, "\(run.errors)")
        #expect(try array.elements == lines.results)
        let again = try array.run()
        #expect(again.status == 0 && again.errors.contains("nothing to do"), "\(again.errors)")
        for command in [["verify", "--file-only"], ["verify", "-q", "--sample", "100%"], ["check"]] {
            let said = try Program.run(command + array.arguments(), folder: array.folder)
            #expect(said.status == 0, "\(command): \(said)")
        }
        #expect(try Program.run(["verify", "out.json", "--file-only"], folder: array.folder).status == 0)
        let report = try Program.run(["report", "out.json", "--input", "in.json"], folder: array.folder)
        #expect(report.status == 0 && report.errors.contains("12 results"), "\(report)")
        // It is the input of a next step, as it stands.
        let next = try Program.run(
            [
                "run", "--model", array.job.model, "--input", "out.json", "--output", "next.json",
                "--max-tokens",
                "2", "--prompt", "{{ text }}?",
            ], folder: array.folder)
        #expect(next.status == 0 && next.errors.contains("12 lines"), "\(next.errors)")
    }

    @Test func aKilledRunGoesOn() throws {
        let whole = try ArrayJob(Self.lines, ["--max-tokens", "40", "--ignore-eos"])
        defer { whole.job.remove() }
        #expect(try whole.run().status == 0)
        let array = try ArrayJob(
            Self.lines, ["--max-tokens", "40", "--ignore-eos", "--workers", "2"])
        defer { array.job.remove() }
        let journal = array.folder + "/out.json.journal"
        let running = try RunningProgram(["run"] + array.arguments(), folder: array.folder)
        try running.wait(for: "a result") {
            (FileManager.default.contents(atPath: journal) ?? Data()).count { $0 == 0x0A } > 2
        }
        running.send(SIGKILL)
        _ = try running.end()
        #expect(!array.has)
        let rest = try array.run()
        #expect(rest.status == 0, "\(rest.errors)")
        #expect(try array.elements == whole.elements)
        // An edit costs what is edited.
        var lines = Self.lines
        lines[3] = "{\"id\": \"n3\", \"prompt\": \"What is new?\"}"
        lines.append("{\"id\": \"more\", \"prompt\": \"More?\"}")
        try array.put(lines)
        let edited = try array.run()
        #expect(edited.errors.contains("13 lines: 2 done, 0 failed, 11 done before"), "\(edited.errors)")
        #expect(try array.elements.count == 13)
    }

    @Test func whatIsWrongIsSaidWithFileAndLine() throws {
        let array = try ArrayJob(
            [Self.lines[0], "{\"id\": \"bad\"", Self.lines[1]], ["--max-tokens", "2", "--max-failures", "1"])
        defer { array.job.remove() }
        let run = try array.run()
        #expect(run.status == 0 && run.errors.contains("in.json:3: invalid_json: "), "\(run.errors)")
        #expect(try array.elements.count == 3)
        try array.put([Self.lines[0]], end: "")
        let cut = try array.run()
        #expect(cut.status == 74 && cut.errors.contains("no ] at its end"), "\(cut)")
        #expect(try array.elements.count == 3, "it stays")
        let follow = try array.run("run", ["--follow"])
        #expect(follow.status == 64 && follow.errors.contains("can't be followed"), "\(follow)")
        try Data("[]".utf8).write(to: URL(filePath: array.folder + "/in.json"))
        let empty = try Program.run(
            ["run", "--model", array.job.model, "--input", "in.json", "--output", "empty.json"],
            folder: array.folder)
        #expect(empty.status == 0, "\(empty)")
        #expect(try String(contentsOfFile: array.folder + "/empty.json", encoding: .utf8) == "[]\n")
    }
}
