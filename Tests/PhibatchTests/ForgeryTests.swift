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
        var isNative: Bool { format == "jsonl" || isArray }
        var isArray: Bool { format == "json" }
        var isArrayApart: Bool { isArray && hasErrors }
        var isTable: Bool { format == "csv" || format == "tsv" }
        var isOpenAI: Bool { format == "openai" }
        var isJSON: Bool { !isTable }
        /// Its results stand in the record, too.
        var isRecorded: Bool { !isNative }

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
        Forgery(name: "a second row of a line", said: "it is there twice") { forged, shape in
            let row = forged.rows[shape.samples - 1]
            forged.rows.insert(row, at: shape.samples)
        },
        Forgery(name: "a second row before the first", said: "it is there twice") { forged, _ in
            forged.rows.insert(forged.rows[0], at: 0)
        },
        Forgery(name: "a row of a new id", said: "no line of the input is left for") { forged, _ in
            forged.append(asID: "zz")
        },
        Forgery(name: "the last row again", said: "no line of the input is left for") { forged, _ in
            forged.rows.append(forged.rows[forged.rows.count - 1])
        },
        Forgery(name: "two lines swapped", said: "stands where") { forged, shape in
            for sample in 0..<shape.samples { forged.rows.swapAt(sample, shape.samples + sample) }
        },
        Forgery(name: "a row taken out", said: "there is no result of line 1") { forged, shape in
            forged.rows.removeFirst(shape.samples)
        },
        Forgery(name: "a line of garbage", said: "") { forged, shape in
            forged.rows[shape.samples - 1].text += "garbage\n"
        },
        Forgery(
            name: "another index", said: "has the index 7, and should have 0", fits: \.isNative
        ) { forged, _ in forged.replace("\"index\":0", with: "\"index\":7") },
        Forgery(name: "the answer twice", said: "", fits: \.isJSON) { forged, shape in
            let more = shape.answer.hasSuffix("\"") ? "x\"," : "-1,"
            forged.replace(
                shape.answer, with: shape.answer + more + shape.answer,
                inRow: shape.isOpenAI ? shape.samples - 1 : 0)
        },
        Forgery(name: "usage twice", said: "is not as phibatch writes it", fits: \.isNative) { forged, _ in
            let usage = "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1},"
            forged.replace("\"usage\":", with: usage + "\"usage\":")
        },
        Forgery(name: "white space", said: "is not as phibatch writes it", fits: \.isJSON) {
            forged, shape in
            forged.replace("\"usage\":", with: "\"usage\": ", inRow: shape.isNative ? 0 : shape.samples - 1)
        },
        Forgery(name: "a member more", said: "does not carry the fields", fits: \.isNative) { forged, _ in
            forged.replace("\"usage\":", with: "\"model\":\"another\",\"usage\":")
        },
        Forgery(name: "another kept field", said: "does not carry the fields", fits: \.isNative) {
            forged, _ in
            forged.replace("rain", with: "snow")
        },
        Forgery(name: "another field", said: "is not as phibatch writes it", fits: \.isRecorded) {
            forged, shape in
            forged.replace("rain", with: "snow", inRow: shape.samples - 1)
        },
        Forgery(name: "no result in the record", said: "in the record", fits: \.isRecorded) {
            forged, shape in
            forged.rows[shape.samples - 1].recorded.json = nil
        },
        Forgery(name: "column names swapped", said: "the first line is", fits: \.isTable) { forged, _ in
            forged.start = forged.start.replacing("prompt_tokens", with: "x").replacing(
                "completion_tokens", with: "prompt_tokens"
            ).replacing("x", with: "completion_tokens", maxReplacements: 1)
        },
        Forgery(name: "a cell more", said: "is not as phibatch writes it", fits: \.isTable) {
            forged, shape in
            forged.rows[0].text =
                forged.rows[0].text.dropLast() + (shape.format == "csv" ? "," : "\t") + "x\n"
        },
        Forgery(name: "needless quotes", said: "is not as phibatch writes it", fits: \.isTable) { forged, _ in
            forged.rows[0].text = "\"a\"" + forged.rows[0].text.dropFirst()
        },
        Forgery(name: "two rows as one", said: "is not as phibatch writes it", fits: \.isTable) { forged, _ in
            forged.rows[0].text += forged.rows[0].text
        },
        Forgery(name: "another custom_id", said: "is not as phibatch writes it", fits: \.isOpenAI) {
            forged, shape in
            forged.replace("\"custom_id\":\"a\"", with: "\"custom_id\":\"z\"", inRow: shape.samples - 1)
        },
        Forgery(name: "a member of a message more", said: "is not as phibatch writes it", fits: \.isOpenAI) {
            forged, shape in
            forged.replace(
                "\"refusal\":null", with: "\"refusal\":null,\"name\":\"x\"", inRow: shape.samples - 1)
        },
        Forgery(name: "bytes before an array", said: "the first line is", fits: \.isArray) { forged, _ in
            forged.start = " ["
        },
        Forgery(name: "a comma before the first element", said: "not as they were written", fits: \.isArray) {
            forged, _ in forged.rows[0].frame = ",\n"
        },
        Forgery(name: "bytes between elements", said: "not as they were written", fits: \.isArray) {
            forged, _ in
            forged.rows[forged.secondInOutput].frame = ", \n"
        },
        Forgery(name: "no comma between elements", said: "not as they were written", fits: \.isArray) {
            forged, _ in forged.rows[forged.secondInOutput].frame = "\n"
        },
        Forgery(name: "a comma after the last element", said: "after the last result", fits: \.isArray) {
            forged, _ in forged.end = ",\n]\n"
        },
        Forgery(name: "an array without an end", said: "after the last result", fits: \.isArray) {
            forged, _ in
            forged.end = "\n"
        },
        Forgery(name: "bytes after an array", said: "after the last result", fits: \.isArray) { forged, _ in
            forged.end += "{}\n"
        },
        Forgery(name: "failed lines without an end", said: "file of failed lines", fits: \.isArrayApart) {
            forged, _ in forged.errors = forged.errors.map { String($0.dropLast(2)) }
        },
        Forgery(name: "no failed lines", said: "is not in the file of failed lines", fits: \.hasErrors) {
            forged, _ in forged.errors = ""
        },
        Forgery(name: "failed lines gone", said: "is not there", fits: \.hasErrors) { forged, _ in
            forged.errors = nil
        },
        Forgery(name: "failed lines doubled", said: "does not end as it should", fits: \.hasErrors) {
            forged, _ in
            forged.errors = forged.errors.map { $0 + $0 }
        },
        Forgery(name: "a failed line of another id", said: "", fits: \.hasErrors) { forged, _ in
            forged.errors = forged.errors?.replacing("bad", with: "boo", maxReplacements: 1)
        },
        Forgery(name: "failed lines swapped", said: "", fits: \.hasErrors) { forged, shape in
            var lines = forged.errors?.split(separator: "\n", omittingEmptySubsequences: true) ?? []
            lines.swapAt(lines.count - 1, lines.count - 2)
            forged.errors = lines.map { $0 + "\n" }.joined()
        },
    ]

    private static let lines =
        ["a", "b", "c"].map {
            #"{"id": "\#($0)", "prompt": "Say \#($0).", "topic": "rain", "completion": " yes"}"#
        }

    /// A finished job, with two lines that fail where those have a file of their own.
    private func finished(_ shape: Shape) throws -> (job: DemoJob, settings: JobSettings) {
        var lines = Self.lines
        if shape.hasErrors {
            lines.insert(#"{"id": "bad", "topic": "rain"}"#, at: 1)
            lines.insert(#"{"id": "badly", "topic": "rain"}"#, at: 2)
        }
        let job = try DemoJob(lines, (shape.scores ? [] : ["--max-tokens", "3"]) + shape.settings)
        let run = try job.run()
        #expect(run.status == 0, "\(run.errors)")
        return (job, try job.loadedSettings())
    }

    private func audit(_ settings: JobSettings) throws -> OutputCheck {
        try OutputCheck(settings, output: settings.output, errors: settings.errors)
    }

    private func check(_ settings: JobSettings) throws -> OutputCheck? {
        try OutputCheck.read(
            output: settings.output, format: settings.outputFormat.format, errors: settings.errors)
    }

    @Test(arguments: Shape.all)
    func aForgedWholeIsNoticed(shape: Shape) throws {
        let (job, settings) = try finished(shape)
        defer { job.remove() }
        #expect(try audit(settings).faults == [])
        let alone = try OutputCheck(
            output: settings.output, format: ResultFormats.format(ofOutput: settings.output))
        #expect(alone.faults == [])
        let honest = try Forged(settings, folder: job.folder)
        // What the forger writes of an honest output is that output.
        try honest.write()
        #expect(try audit(settings).faults == [])
        #expect(try check(settings)?.different == 0 && check(settings)?.hasErrorsAsWritten ?? true)
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
        let (job, settings) = try finished(shape)
        defer { job.remove() }
        func run(_ command: [String]) throws -> Program.Result {
            try Program.run(command + job.arguments(), folder: job.folder)
        }
        let fine = try run(["verify", "--file-only"])
        #expect(fine.status == 0 && fine.output.contains("not looked at: whether the answers"), "\(fine)")
        let verified = try run(["verify", "-q", "--sample", "100%"])
        #expect(verified.status == 0 && verified.output.contains("not looked at: the times"), "\(verified)")

        let honest = try Forged(settings, folder: job.folder)
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
        let row = shape.isOpenAI ? shape.samples - 1 : 0
        if shape.isTable {
            let tab = shape.format == "csv" ? "," : "\t"
            forged.replace("a\(tab)0\(tab)", with: "a\(tab)0\(tab)Forged")
        } else if shape.answer.hasSuffix("\"") {
            forged.replace(shape.answer, with: shape.answer + "Forged ", inRow: row)
        } else {
            forged.replace("\"prompt_tokens\":", with: "\"prompt_tokens\":1", inRow: row)
        }
        try forged.write()
        let part = try run(["verify", "--file-only"])
        #expect(part.output.contains("phibatch verify"), "\(part)")
        let all = try run(["verify", "-q", "--sample", "100%"])
        #expect(all.status == 1 && all.output.contains("not verified"), "\(all)")
        guard shape.hasErrors else { return }
        // So with the message of a failed line.
        forged = honest
        forged.errors = forged.errors?.replacing("prompt", with: "promise", maxReplacements: 1)
        try forged.write()
        let failed = try run(["verify", "-q", "--sample", "100%"])
        #expect(failed.status == 1 && failed.errors.contains("bad"), "\(failed)")
        // A forger who doesn't know of the record.
        try honest.write()
        try (forged.errors ?? "").write(
            toFile: job.folder + "/failed", atomically: true, encoding: .utf8)
        let unsealed = try run(["verify", "--file-only"])
        #expect(
            unsealed.status == 1 && unsealed.errors.contains("failed lines is not as it was written"),
            "\(unsealed)")
    }
}
