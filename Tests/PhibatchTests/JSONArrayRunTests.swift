import Foundation
import Testing

/// A JSON array in and out, through the real program.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct JSONArrayRunTests {
    private static let lines = (0..<12).map { "{\"id\": \"n\($0)\", \"prompt\": \"Count up from \($0).\"}" }

    /// The job on an array, and the elements of its output without times.
    private struct ArrayJob {
        let job: DemoJob
        var folder: String { job.folder }

        init(_ lines: [String]) throws {
            job = try DemoJob([], ["--max-tokens", "6"])
            let text = "[\n" + lines.map { "  " + $0 }.joined(separator: ",\n") + "\n]\n"
            try Data(text.utf8).write(to: URL(filePath: folder + "/in.json"))
        }

        func arguments() -> [String] {
            ["--model", job.model, "--input", "in.json", "--output", "out.json"] + job.settings
        }

        func run() throws -> Program.Result { try Program.run(["run"] + arguments(), folder: folder) }

        var elements: [String] {
            get throws {
                let text = try String(contentsOfFile: folder + "/out.json", encoding: .utf8)
                _ = try JSONSerialization.jsonObject(with: Data(text.utf8))
                #expect(text.hasPrefix("[") && text.hasSuffix("]\n"))
                return text.split(separator: "\n").dropFirst().dropLast().map {
                    String($0.hasSuffix(",") ? $0.dropLast() : $0)
                        .replacing(/,"timing":\{[^{}]*\}/, with: "")
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
}
