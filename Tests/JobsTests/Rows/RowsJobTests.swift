import BatchEngine
import Foundation
import JSON
import PhiModel
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Jobs that make their lines, run over a scripted model.
@Suite struct RowsJobTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write("Ann\nBo\nCy\nDee\n".utf8, to: "names")
    }

    private func job(_ rows: Int = 40, _ change: (inout JobSettings) throws -> Void = { _ in }) throws
        -> JobSettings
    {
        let yaml = """
            model: model
            output: out.jsonl
            rows: \(rows)
            seed: 11
            temperature: 0.8
            max_tokens: 12
            pick:
              thing: [{"name": "sea", "n": 1.50}, {"name": "snow", "n": 2}]
              person: {file: names}
              age: {from: 1, to: 99}
              unused: {of: [1, 2, 3], weights: [1, 0.50, 2]}
            prompt: "{{ thing.name }} {{ thing.n }} {{ person }} {{ age }}"
            keep: [age, thing]

            """
        var job = try JobSettings.parse(yaml, folder: folder.url.path)
        job.engine.speculation = .off
        try change(&job)
        return job
    }

    /// The rows in a file, and the same job with that as its input.
    private func jobWithInput(_ job: JobSettings) throws -> JobSettings {
        try folder.write(PickTests.rows(job).map { $0 + "\n" }.joined().utf8, to: "rows.jsonl")
        var same = job
        (same.rows, same.pick, same.input) = (nil, [], [folder.path("rows.jsonl")])
        return same
    }

    @discardableResult
    private func run(_ job: JobSettings, prunes: Bool = false) throws -> RunStatistics {
        let store = try ScriptedRun.store(job) { $0.prunes = prunes }
        let outcome = try Runner(job: job, model: ScriptedModel(), store: store).run()
        #expect(outcome.status == .complete && outcome.statistics.failed == 0)
        return outcome.statistics
    }

    private func results(_ name: String = "out.jsonl") throws -> [String] {
        try folder.text(name).replacing(/,"timing":{[^{}]*}/, with: "").split(separator: "\n").map(
            String.init)
    }

    @Test func rowsAreAsLinesOfAFile() throws {
        let job = try job()
        let expected = try ScriptedRun.run(jobWithInput(job)).lines
        #expect(expected.count == 40 && expected[0].hasPrefix(#"{"id":"row-1","index":0,"text":"#))
        #expect(
            Set(expected.map { $0.contains(",\"thing\":{\"name\":\"sea\",\"n\":1.50}") }) == [true, false])
        try ScriptedRun.inManyWays(job) { outcome, lines, _ in
            #expect(outcome.status == .complete && lines == expected)
        }
        #expect(try job.countLines() == 40 && job.canReadTwice())
        #expect(try JobFreshness(self.job { $0.output = folder.path("none") }, cache: .off) == nil)
    }

    /// More rows, other fields: only what is new or asks something else is done.
    @Test func editsMakeWhatIsNew() throws {
        #expect(try run(job(20)).done == 20)
        let first = try results()
        var fresh = try #require(try JobFreshness(job(30), cache: .off))
        #expect((fresh.new, fresh.changed, fresh.gone) == (10, 0, 0))
        let more = try run(job(30))
        #expect(more.done == 10 && more.skipped == 20)
        #expect(try Array(results()[..<20]) == first)
        let unused = try job(30) { $0.pick = $0.pick.filter { $0.name != "unused" }.reversed() }
        #expect(try run(unused).skipped == 30)
        #expect(try JobFreshness(unused, cache: .off)?.isFresh == true)
        try folder.write("Ann\nBo\nCy\nEve\n".utf8, to: "names")
        let renamed = try PickTests.rows(job(30)).count { $0.contains("Eve") }
        #expect((1..<30).contains(renamed))
        #expect(try JobFreshness(job(30), cache: .off)?.changed == renamed)
        #expect(try run(job(30)).done == renamed)
        fresh = try #require(try JobFreshness(job(5), cache: .off))
        #expect(fresh.gone == 25 && fresh.losesTooMany)
        #expect(throws: UserError.self) { try run(job(5)) }
        #expect(try run(job(5), prunes: true).skipped == 5)
        #expect(try results().count == 5)
    }

    @Test func aPreviewIsTheBeginning() throws {
        let preview = try job(1_000_000_000) { $0.selection = .init(lines: [7]) }
        #expect(try run(preview).done == 7)
        let whole = try run(job())
        #expect(whole.done == 33 && whole.skipped == 7)
        let first = try results()
        for name in ["out.jsonl", "out.jsonl.log"] {
            try FileManager.default.removeItem(atPath: folder.path(name))
        }
        #expect(try run(job()).done == 40)
        #expect(try results() == first)
    }

    @Test func shardsJoinToTheWhole() throws {
        try run(job())
        let whole = try results()
        try FileManager.default.removeItem(atPath: folder.path("out.jsonl"))
        try FileManager.default.removeItem(atPath: folder.path("out.jsonl.log"))
        for index in 0..<3 {
            let shard = try job {
                $0.selection = .shard(index: index, count: 3)
                $0.chooseShardOutput()
            }
            #expect(try run(shard).done == (index == 0 ? 14 : 13))
        }
        _ = try ShardMerge(output: folder.path("out.jsonl"), count: 3)
        #expect(try results() == whole)
    }

    @Test(arguments: [1, 2, 3, 4]) func interruptedRunsGoOn(seed: UInt64) throws {
        let job = try job()
        #expect(try ScriptedRun.stopped(job, seed: seed, steps: 9) == ScriptedRun.run(job).lines)
    }

    @Test func verificationMakesThemAgain() throws {
        try run(job())
        func verify() throws -> Verification { try ScriptedRun.verification(job(), lines: 9) }
        let fine = try verify()
        #expect(fine.total == 40 && fine.lines == 9 && fine.compared == 9)
        #expect(fine.different == 0 && fine.check.faultCount == 0, "\(fine.faults)")
        // The file that rows pick from is another one: the results are those of other lines.
        try folder.write("Eve\n".utf8, to: "names")
        #expect(try !verify().isFine)
    }

    @Test func theManifestSaysHowRowsWereMade() throws {
        let store = try LogStore(job(), fingerprint: testFingerprint)
        _ = try Runner(job: job(), model: ScriptedModel(), store: store).run()
        let manifest = try Manifest(job(), cache: .off).put(besideOutput: folder.path("out.jsonl"))
        let json = try JSONValue(parsing: Array(Data(contentsOf: URL(filePath: manifest))), limits: .file)
        guard case .array(let input)? = json["input"] else { throw CancellationError() }
        #expect(input.count == 1 && input[0]["rows"] == 40)
        #expect(input[0]["pick"]?["age"] == ["from": 1, "to": 99])
        #expect(input[0]["pick"]?["person"]?["file"] == "names")
        #expect(input[0]["pick"]?["unused"] == ["of": [1, 2, 3], "weights": [1, 0.5, 2]])
        func differences() throws -> [String] {
            let job = try job()
            let manifest = try #require(try Manifest(ofOutput: job.output))
            let check = try OutputCheck(job, output: job.output)
            return try manifest.comparison(with: job, check, made: job.runFingerprint(cache: .off))
                .differences.map(\.text)
        }
        #expect(try differences().isEmpty)
        try folder.write("Ann\nBo\nCy\nEve\n".utf8, to: "names")
        #expect(try differences().contains { $0.hasPrefix("names is not as it was") })
    }

    @Test func stepsSeeTheFields() throws {
        let job = try job { job in
            (job.prompt, job.keep) = (nil, .fields([.init("person")]))
            var ask = JobStep("ask")
            ask.settings.prompt = "Ask {{ person }} of {{ age }}."
            var judge = JobStep("judge")
            judge.settings.prompt = "{{ thing.name }}: {{ ask.text }}"
            job.steps = [ask, judge]
        }
        try job.check(file: nil)
        let expected = try ScriptedRun.run(jobWithInput(job)).lines
        #expect(expected.count == 40 && expected[0].contains("\"steps\":[\"ask\",\"judge\"]"))
        #expect(try ScriptedRun.run(job).lines == expected)
    }

    /// Fields may be what a line asks for itself.
    @Test func fieldsMayBeSettings() throws {
        let job = try job { job in
            job.prompt = nil
            job.pick = [
                try Pick("prompt", of: ["tell", "ask"]), try Pick("max_tokens", from: 1, to: 4),
            ]
            job.keep = .all
        }
        let model = ScriptedModel()
        model.endOdds = .max
        let lines = try ScriptedRun.run(job, model).lines
        for length in 1...4 { #expect(lines.contains { $0.contains("\"completion_tokens\":\(length)}") }) }
    }

    @Test func whatCantBeAskedIsSaidBefore() throws {
        func problem(_ change: (inout JobSettings) -> Void) throws -> String {
            let job = try job(3, change)
            let error = #expect(throws: UserError.self) { try BatchJob(job) }
            return error?.description ?? ""
        }
        let none = try problem { $0.prompt = nil }
        #expect(none.hasPrefix("rows:1: the line has no `prompt`") && none.contains("{{ thing }}") == false)
        #expect(none.contains("{{ person }}"), "\(none)")
        let bare = try problem { ($0.prompt, $0.pick, $0.keep) = (nil, [], .none) }
        #expect(bare.contains("rows have no prompt of their own"), "\(bare)")
        let same = try BatchJob(job(3) { $0.prompt = "Hello" })
        #expect(try same.warnings().contains { $0.contains("all lines ask the same") })
        #expect(try BatchJob(job(3)).warnings().isEmpty)
    }

    @Test func aRowMayBeTooLong() throws {
        try folder.write(String(repeating: "x", count: 1 << 20).utf8, to: "names")
        var reader = try job(1).inputReader(limit: 1 << 20)
        let row = try #require(try reader.next())
        #expect(row.bytes.isEmpty && row.length > 1 << 20)
        let error = #expect(throws: LineError.self) { try row.content().fields }
        #expect(error?.code == .lineTooLong)
    }
}
