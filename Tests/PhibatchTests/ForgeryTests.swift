import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs
@testable import phibatch

/// Datasets that were forged after a job had made them, and what `verify` says, with and without --file-only, of each.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct ForgeryTests {
    /// What outputs can be like.
    struct Shape: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var settings: [String]
        /// The name of the output's format.
        var format = "jsonl"
        /// A member or cell that each result has.
        var answer = "\"text\":\""
        var samples = 1
        var scores: Bool { settings.contains("score") }
        var hasErrors: Bool { settings.contains("--errors") }
        var isArray: Bool { format == "json" }
        var isTable: Bool { format == "csv" || format == "tsv" }
        var isOpenAI: Bool { format == "openai" }
        var isJSON: Bool { !isTable }

        static let plain = Shape(testDescription: "JSON lines", settings: ["--keep", "topic"])
        static let samples = Shape(
            testDescription: "samples",
            settings: ["--samples", "2", "--temperature", "1", "--keep", "topic"],
            samples: 2)
        static let choices = Shape(
            testDescription: "choices", settings: ["--choices", "yes", "--choices", "no", "--keep", "topic"])
        static let scores = Shape(
            testDescription: "scores", settings: ["--task", "score", "--keep", "topic"],
            answer: "\"logprob\":")
        static let csv = Shape(
            testDescription: "CSV", settings: ["--output-format", "csv", "--keep", "topic"], format: "csv")
        static let tsv = Shape(
            testDescription: "TSV", settings: ["--output-format", "tsv", "--keep", "topic"], format: "tsv")
        static let array = Shape(
            testDescription: "JSON array", settings: ["--output-format", "json", "--keep", "topic"],
            format: "json")
        static let openAI = Shape(
            testDescription: "OpenAI", settings: ["--output-format", "openai", "--keep", "topic"],
            format: "openai", answer: "\"content\":\"")
        static let openAISamples = Shape(
            testDescription: "OpenAI, samples",
            settings: [
                "--output-format", "openai", "--samples", "2", "--temperature", "1", "--logprobs", "1",
                "--keep", "topic",
            ], format: "openai", answer: "\"content\":\"", samples: 2)

        static func apart(_ other: Shape) -> Shape {
            var shape = other
            shape.testDescription += ", failed lines apart"
            shape.settings += ["--errors", "failed", "--max-failures", "2"]
            return shape
        }

        static let all = [
            plain, samples, choices, scores, csv, tsv, array, openAI, openAISamples, apart(plain), apart(csv),
            apart(array), apart(openAI),
        ]
    }

    /// One way to forge, and what is said of it.
    struct Forgery: Sendable {
        var name: String
        var said: String
        var fits: @Sendable (Shape) -> Bool = { _ in true }
        var forge: @Sendable (inout Forged, Shape) -> Void
    }

    static let forgeries: [Forgery] = [
        Forgery(name: "a second row of a line", said: "in the log, or missing") { forged, shape in
            let again = forged.records[shape.samples - 1]
            forged.records.insert(again, at: shape.samples)
        },
        Forgery(name: "a row of a new id", said: "no line of the input is left for") { forged, _ in
            forged.append(asID: "zz")
        },
        Forgery(name: "two lines swapped", said: "stands where") { forged, shape in
            for sample in 0..<shape.samples { forged.records.swapAt(sample, shape.samples + sample) }
        },
        Forgery(name: "a row taken out", said: "there is no result of line 1") { forged, shape in
            forged.records.removeFirst(shape.samples)
        },
        Forgery(name: "another kept field", said: "does not carry the fields") { forged, _ in
            forged.records[0].result.kept["topic"] = "snow"
        },
        Forgery(name: "a row of the output alone", said: "is not as phibatch writes it") { forged, _ in
            forged.replace("rain", with: "snow")
        },
        Forgery(name: "a line of garbage at the end", said: "than it should") { forged, _ in
            forged.text += "garbage\n"
        },
        Forgery(name: "an output that is cut", said: "") { forged, _ in forged.text.removeLast(2) },
        Forgery(name: "the answer twice", said: "is not as phibatch writes it", fits: \.isJSON) {
            forged, shape in
            let more = shape.answer.hasSuffix("\"") ? "x\"," : "-1,"
            forged.replace(shape.answer, with: shape.answer + more + shape.answer)
        },
        Forgery(name: "white space", said: "is not as phibatch writes it", fits: \.isJSON) { forged, _ in
            forged.replace("\"usage\":", with: "\"usage\": ")
        },
        Forgery(name: "column names swapped", said: "does not begin as it should", fits: \.isTable) {
            forged, _ in
            forged.text = forged.text.replacing("prompt_tokens", with: "x").replacing(
                "completion_tokens", with: "prompt_tokens"
            ).replacing("x", with: "completion_tokens", maxReplacements: 1)
        },
        Forgery(name: "another layout", said: "the format is", fits: \.isTable) { forged, _ in
            forged.header.layout = forged.header.layout.replacing("topic", with: "topics")
        },
        Forgery(name: "bytes before an array", said: "does not begin as it should", fits: \.isArray) {
            forged, _ in
            forged.text = " " + forged.text
        },
        Forgery(name: "bytes after an array", said: "than it should", fits: \.isArray) { forged, _ in
            forged.text += "{}\n"
        },
        Forgery(name: "no failed lines", said: "file of failed lines", fits: \.hasErrors) { forged, _ in
            forged.errors = ""
        },
        Forgery(name: "failed lines gone", said: "is not there", fits: \.hasErrors) { forged, _ in
            forged.errors = nil
        },
        Forgery(name: "failed lines doubled", said: "file of failed lines", fits: \.hasErrors) { forged, _ in
            forged.errors = forged.errors.map { $0 + $0 }
        },
        Forgery(name: "a failed line of another id", said: "", fits: \.hasErrors) { forged, _ in
            forged.errors = forged.errors?.replacing("bad", with: "boo", maxReplacements: 1)
        },
    ]

    private static let lines =
        ["a", "b", "c"].map {
            #"{"id": "\#($0)", "prompt": "Say \#($0).", "topic": "rain", "completion": " yes"}"#
        }

    /// A finished job, with two lines that fail where those have a file of their own.
    private func finished(_ shape: Shape) throws -> DemoJob {
        var lines = Self.lines
        if shape.hasErrors {
            lines.insert(#"{"id": "bad", "topic": "rain"}"#, at: 1)
            lines.insert(#"{"id": "badly", "topic": "rain"}"#, at: 2)
        }
        let job = try DemoJob(lines, (shape.scores ? [] : ["--max-tokens", "3"]) + shape.settings)
        let run = try job.run()
        #expect(run.status == 0, "\(run.errors)")
        return job
    }

    private func audit(_ settings: JobSettings) throws -> OutputCheck {
        try OutputCheck(settings, output: settings.output, errors: settings.errors)
    }

    @Test(arguments: Shape.all)
    func aForgedWholeIsNoticed(shape: Shape) throws {
        let job = try finished(shape)
        let settings = try job.loadedSettings()
        #expect(try audit(settings).faults == [])
        #expect(try OutputCheck(output: settings.output).faults == [])
        let honest = try Forged(settings)
        // What the forger writes of an honest output is that output.
        try honest.write()
        #expect(try audit(settings).faults == [])
        for forgery in Self.forgeries where forgery.fits(shape) {
            var forged = honest
            forgery.forge(&forged, shape)
            try forged.write()
            let found = try audit(settings)
            #expect(found.faultCount > 0, "\(forgery.name)")
            #expect(
                forgery.said.isEmpty || found.faults.contains { $0.text.contains(forgery.said) },
                "\(forgery.name): \(found.faults)")
        }
    }

    /// The program, with one forgery of the whole and one of an answer.
    @Test(arguments: Shape.all)
    func theProgramSaysWhatIsForged(shape: Shape) throws {
        let job = try finished(shape)
        let settings = try job.loadedSettings()
        func run(_ command: [String]) throws -> Program.Result {
            try Program.run(command + job.arguments(), folder: job.folder)
        }
        let fine = try run(["verify", "--file-only"])
        #expect(fine.status == 0 && fine.output.contains("not looked at: whether the answers"), "\(fine)")
        let verified = try run(["verify", "-q", "--sample", "100%"])
        #expect(verified.status == 0 && verified.output.contains("not looked at:"), "\(verified)")

        let honest = try Forged(settings)
        var forged = honest
        forged.append(asID: "zz")
        try forged.write()
        let more = try run(["verify", "--file-only"])
        #expect(more.status == 1 && more.errors.contains("(zz"), "\(more)")
        let other = try run(["verify", "-q", "--sample", "1"])
        #expect(other.status == 1 && other.errors.contains("(zz"), "\(other)")
        let manifest = try run(["verify", "--manifest"])
        #expect(manifest.status == 65, "\(manifest)")

        // An answer that fits all around it: only who has it made again knows.
        forged = honest
        forged.records[0].result.own[shape.scores ? "mean" : "text"] = shape.scores ? -99 : "Forged"
        try forged.write()
        let part = try run(["verify", "--file-only"])
        #expect(part.status == 0 && part.output.contains("phibatch verify"), "\(part)")
        let all = try run(["verify", "-q", "--sample", "100%"])
        #expect(all.status == 1 && all.output.contains("not verified"), "\(all)")
        guard shape.hasErrors else { return }
        forged = honest
        forged.errors = forged.errors?.replacing("prompt", with: "promise", maxReplacements: 1)
        // A forger who doesn't know of the log.
        try honest.write()
        try (forged.errors ?? "").write(
            toFile: job.folder + "/failed", atomically: true, encoding: .utf8)
        let unsealed = try run(["verify", "--file-only"])
        #expect(
            unsealed.status == 1 && unsealed.errors.contains("file of failed lines"),
            "\(unsealed)")
    }
}
