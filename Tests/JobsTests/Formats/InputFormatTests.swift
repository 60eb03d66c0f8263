import Errors
import Foundation
import JSON
import OperatingSystem
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Jobs whose input has another format than the native one.
@Suite struct InputFormatTests {
    private let text =
        "id,prompt\na,first\nb,\"second, with\ntwo lines\"\n\nc,third,and more\na,again\nd,last\n"

    @Test func aRecordMayBeSeveralLines() throws {
        for chunk in [1, 3, 4096] {
            let records = try InputReader.records(text, text, format: .csv, chunk: chunk)
            #expect(records.map(\.number) == [2, 3, 6, 7, 8, 2, 3, 6, 7, 8])
            #expect(records.map(\.overallNumber) == [2, 3, 6, 7, 8, 10, 11, 14, 15, 16])
            #expect(
                String(decoding: records[1].bytes, as: UTF8.self)
                    == "id,prompt\nb,\"second, with\ntwo lines\"")
        }
        #expect(
            try InputReader.records(text, format: .csv, limit: 20, chunk: 5).map(\.isTooLong) == [
                false, true, false, false, false,
            ])
    }

    /// What becomes of it, in native results, and each by its id.
    private func results(
        _ text: String, _ format: InputFormat, in folder: TestFolder, made: Int
    ) throws -> [String: String] {
        try folder.write(text.utf8, to: "in")
        var job = JobSettings.test(input: [folder.path("in")])
        job.inputFormat = format
        job.maxFailures = .count(5)
        let outcome = try Runner(job: job, model: ScriptedModel(), store: openStore(folder)).run()
        #expect(outcome.status == .complete && outcome.statistics.done == made)
        var results: [String: String] = [:]
        for line in try folder.text("out.jsonl").split(separator: "\n") {
            let json = try JSONValue(parsing: Array(line.utf8), limits: .line)
            let code = json["error"]?.string("code")
            results[json.string("id") ?? "", default: ""] += code ?? json.string("text") ?? "?"
        }
        return results
    }

    @Test func aJobGivesTheSameAnswersAsInTheNativeFormat() throws {
        let folder = try TestFolder()
        let found = try results(text, InputFormat.csv, in: folder, made: 3)
        let native = try results(
            ["first", "second, with\\ntwo lines", "last"].enumerated().map {
                "{\"id\":\"\(["a", "b", "d"][$0])\",\"prompt\":\"\($1)\"}\n"
            }.joined(), InputFormat.jsonl, in: TestFolder(), made: 3)
        #expect(found["b"] == native["b"] && found["d"] == native["d"])
        #expect(found["a"] == (native["a"] ?? "") + "duplicate_id")
        // What is wrong has no id but its number.
        #expect(found["6"] == "bad_field")
        // An edit costs what is edited.
        let edited = text.replacing("last", with: "changed").replacing("a,again\n", with: "")
        #expect(try results(edited, InputFormat.csv, in: folder, made: 1)["d"] != native["d"])
    }

    /// A quote that is never closed takes all that follows; as one failed line that would be lost.
    @Test func halfARecordIsAnError() throws {
        let folder = try TestFolder()
        for end in [
            "e", "e,\"half\nof it", "e,\"half\nof\nit\n", "e,\"\(String(repeating: "x\n", count: 9000))",
        ] {
            let error = #expect(throws: UserError.self) {
                try results(text + end, InputFormat.csv, in: TestFolder(), made: 3)
            }
            #expect(error?.kind == .io && error?.place?.hasSuffix(":9") == true)
            try folder.write((text + end).utf8, to: "half")
            var job = JobSettings.test(input: [folder.path("half")])
            job.inputFormat = InputFormat.csv
            #expect(try job.countLines() == 5)
        }
        #expect(try results(text + "e,whole", InputFormat.csv, in: folder, made: 4)["e"] != nil)
    }

    @Test func aPromptMayBeSeveralLines() throws {
        let found = try results(
            "\n \r\nfirst\r\n\r\nsecond, with\n  two lines\n\t\n\nlast", InputFormat.paragraphs,
            in: TestFolder(),
            made: 3)
        let native = try results(
            [(3, "first"), (5, "second, with\\n  two lines"), (9, "last")].map {
                "{\"id\":\"\($0)\",\"prompt\":\"\($1)\"}\n"
            }.joined(), InputFormat.jsonl, in: TestFolder(), made: 3)
        #expect(found == native)
        let long = try InputReader.records(
            "short\n\nmuch\ntoo\nlong\n\nshort\n", format: .paragraphs, limit: 10, chunk: 3)
        #expect(long.map(\.length) == [5, 13, 5] && long.map(\.bytes.isEmpty) == [false, true, false])
    }

    /// Input and output are read and written through the same layer.
    @Test func faultsOfTheInputAreErrors() throws {
        let folder = try TestFolder()
        let path = try folder.write(text, to: "in")
        func read(_ system: FaultyFileSystem) throws -> Int {
            try InputReader(paths: [path], chunkSize: 8, system: system).all().count
        }
        let counting = FaultyFileSystem()
        let whole = try read(counting)
        for number in counting.calls.indices {
            for fault in [FaultyFileSystem.Fault.short, .error(EINTR)] {
                #expect(try read(FaultyFileSystem(failing: number, with: fault)) == whole)
            }
            let error = #expect(throws: UserError.self) {
                try read(FaultyFileSystem(failing: number, with: .error(EIO)))
            }
            #expect(error?.place == path && error?.message.contains(SystemError(code: EIO).reason) == true)
            #expect(error?.kind == (counting.calls[number] == .read ? .io : .missingInput))
        }
    }
}
