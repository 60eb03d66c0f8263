import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Runs after runs of other settings: what is done is known again.
@Suite struct KnownLinesTests {
    private let folder: TestFolder
    private let lines: [String]

    init() throws {
        folder = try TestFolder()
        lines = (0..<20).map {
            "{\"id\":\"l\($0)\",\"a\":\"ask \($0)\",\"b\":\"tell \($0)\",\"timing\":\($0)}"
        }
        try folder.write(lines: lines)
    }

    private func job(_ prompt: String = "{{ a }}", keep: KeptFields = .none) -> JobSettings {
        .test(input: [folder.path("in.jsonl")]) {
            ($0.prompt, $0.keep, $0.maxTokens) = (prompt, keep, 5)
        }
    }

    private func store(
        _ job: JobSettings, _ run: String = "1", ifChanged: SettingsChange = .refuse
    ) throws -> LogStore {
        var job = job
        job.output = folder.path("out.jsonl")
        return try LogStore(
            job, fingerprint: RunFingerprint([("job.number", run)]), StoreOptions(ifChanged: ifChanged))
    }

    private func run(
        _ job: JobSettings, _ run: String = "1", ifChanged: SettingsChange = .refuse
    ) throws -> RunStatistics {
        let store = try store(job, run, ifChanged: ifChanged)
        let outcome = try Runner(job: job, model: ScriptedModel().loaded, store: store).run()
        #expect(outcome.status == .complete)
        return outcome.statistics
    }

    /// Results that other templates have made are known by the fields that those name.
    @Test func otherTemplatesKeepResults() throws {
        #expect(try run(job()).done == 20)
        #expect(try run(job("{{ b }}", keep: .all), "2", ifChanged: .keep).skipped == 20)
        // Nothing counts for the earlier run's results that it didn't use; for the new run's, all does.
        let changed = lines.map { $0.replacing("tell 3\"", with: "ask\"") }
        let more = "{\"id\":\"new\",\"a\":\"1\",\"b\":\"2\",\"c\":3}"
        try folder.write(lines: changed + [more])
        let statistics = try run(job("{{ b }}", keep: .all), "2", ifChanged: .keep)
        #expect(statistics.skipped == 20 && statistics.done == 1)
        try folder.write(lines: changed + [more.replacing("3}", with: "4}")])
        #expect(try run(job("{{ b }}", keep: .all), "2").done == 1)
        try folder.write(
            lines: changed.map { $0.replacing("ask 5", with: "ask 6") } + [more.replacing("3}", with: "4}")])
        #expect(try run(job("{{ b }}", keep: .all), "2").done == 1)
    }

    @Test func freshnessGoesByTheSame() throws {
        _ = try run(job())
        func freshness() throws -> JobFreshness? {
            var job = job()
            job.output = folder.path("out.jsonl")
            return try JobFreshness(job, cache: .off)
        }
        #expect(try freshness()?.changed == 0 && freshness()?.gone == 0)
        try folder.write(lines: lines.map { $0.replacing("\"timing\":", with: "\"timing\":1") })
        #expect(try freshness()?.changed == 0)
        try folder.write(lines: lines.map { $0.replacing("ask 7", with: "say 7") })
        #expect(try freshness()?.changed == 1)
    }
}
