import OperatingSystem
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs
@testable import phibatch

/// What a report reads: logs of finished outputs and of stopped runs, and the input.
@Suite struct ResultReportTests {
    private let folder: TemporaryFolder
    private var output: String { folder.path + "/out" }

    init() throws { folder = try TemporaryFolder() }

    private static let fingerprint = RunFingerprint([("model.config", "m"), ("job.seed", "1")])
    private static let failure = GenerationResult.failure(
        LineError(.promptTooLong, "Too long."), line: 4)

    private static func completion(_ text: String) -> GenerationResult {
        .completion(text, promptTokens: 3, completionTokens: 2)
    }

    private func read() throws -> (report: ResultReport, results: [ReportedResult]) {
        let report = try ResultReport(output)
        var results: [ReportedResult] = []
        try report.forEachRow { result, _ in results.append(result) }
        return (report, results)
    }

    /// A stopped run leaves its own results, and those of an earlier output that still count.
    @Test func logsOfStoppedRuns() throws {
        var job = JobSettings()
        job.output = output
        let store = try LogStore(job, fingerprint: Self.fingerprint)
        let keys = (0..<2).map { ResultKey(id: "id\($0)", contentHash: UInt64($0)) }
        for (number, key) in keys.enumerated() { _ = try store.claim(key, position: number) }
        for (number, key) in keys.enumerated() {
            try store.append(Self.completion(["old", "kept"][number]), key: key, position: number)
        }
        try store.finish(count: keys.count)
        let finished = try read()
        #expect(finished.report.state == .complete && finished.report.damaged == 0)
        #expect(finished.results.map(\.text) == ["old", "kept"])
        func record(_ id: String, _ content: UInt64, _ result: GenerationResult) -> [UInt8] {
            ResultRecord(
                key: ResultKey(id: id, contentHash: content), repetition: 0, run: Self.fingerprint.digest,
                result: result
            ).line + [0x0a]
        }
        var header = LogHeader(fingerprint: Self.fingerprint)
        let records = record("id0", 7, Self.failure) + record("id9", 9, Self.completion("new"))
        let begun = header.line + [0x0A] + records
        let packed = try Files.contents(of: output + ".log")
        try folder.write(packed + begun + Array("{\"sum\":\"torn".utf8), to: "out.log")
        let (report, results) = try read()
        #expect(report.state == .stopped)
        #expect(results.map(\.key.id) == ["id0", "id1", "id9"])
        #expect(results.map(\.text) == [nil, "kept", "new"])
        #expect(report.settings.map(\.name) == ["model.config", "job.seed"])
        header.isRestarted = true
        try folder.write(header.line + [0x0A] + records, to: "out.log")
        #expect(try read().results.map(\.key.id) == ["id0", "id9"])
    }

    /// Prompts belong to results by id and content, wherever their lines stand.
    @Test func promptsAreFoundByIDAndContent() throws {
        let long = String(repeating: "é", count: 40_000)
        let lines = [
            #"{"id":"a","question":"Why?"}"#, #"{"id":"b","question":"How?"}"#,
            #"{"id":"a","question":"Again?"}"#, #"{"id":"c"}"#, "{\"id\":\"d\",\"question\":\"\(long)\"}",
        ]
        var job = JobSettings()
        job.input = [try folder.write(lines.joined(separator: "\n"), to: "in.jsonl")]
        (job.prompt, job.system) = ("{{ question }} Say so.", "Be brief.")
        var hashes: [UInt64] = []
        var reader = InputReader(paths: job.input)
        while let line = try reader.next() {
            hashes.append(JobLine(line, try LineKeys(job)).contentHash)
        }
        let ids = ["a", "b", "c", "d", "e"]
        let prompts = try ReportPrompts(of: job, for: ["a", "c", "d", "e"])
        func found(_ id: Int, _ content: UInt64) -> String? {
            prompts.prompt(of: ResultKey(id: ids[id], contentHash: content))?.text
        }
        #expect(found(0, hashes[0]) == "[system]\nBe brief.\n\n[user]\nWhy? Say so.")
        #expect(found(0, hashes[2])?.hasSuffix("Again? Say so.") == true)
        // A result may have been made again.
        #expect(found(0, hashes[0] &+ 2)?.hasSuffix("Why? Say so.") == true)
        // Of another line, one that isn't asked for, one without a prompt, none.
        for (id, content) in [(0, 5), (1, hashes[1]), (2, hashes[3]), (4, 0)] {
            #expect(found(id, content) == nil)
        }
        let cut = try #require(found(3, hashes[4]))
        #expect(cut.utf8.count <= 32 << 10 && cut.hasSuffix("é"))
    }
}
