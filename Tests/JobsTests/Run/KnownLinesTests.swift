import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Runs after runs of other versions and other settings: what is done is known again.
@Suite struct KnownLinesTests {
    private let folder: TestFolder
    private let lines: [String]

    init() throws {
        folder = try TestFolder()
        lines = (0..<20).map {
            "{\"id\":\"l\($0)\",\"a\":\"ask \($0)\",\"b\":\"tell \($0)\",\"timing\":\($0)}"
        }
        try write(lines)
    }

    private func write(_ lines: [String]) throws {
        try folder.write(lines.map { $0 + "\n" }.joined().utf8, to: "in.jsonl")
    }

    private func job(_ prompt: String = "{{ a }}", keep: KeptFields = .none) -> JobSettings {
        .test(input: [folder.path("in.jsonl")]) {
            ($0.prompt, $0.keep, $0.maxTokens) = (prompt, keep, 5)
        }
    }

    private func store(
        _ job: JobSettings, _ run: String = "1", ifChanged: SettingsChange = .refuse
    ) throws -> JournalStore {
        try JournalStore(
            output: folder.path("out.jsonl"), fingerprint: RunFingerprint([("job.number", run)]),
            StoreOptions(lines: LineScheme(job), ifChanged: ifChanged))
    }

    private func run(
        _ job: JobSettings, _ run: String = "1", ifChanged: SettingsChange = .refuse
    ) throws -> RunStatistics {
        let store = try store(job, run, ifChanged: ifChanged)
        let outcome = try Runner(job: job, model: ScriptedModel().loaded, store: store).run()
        #expect(outcome.status == .complete)
        return outcome.statistics
    }

    private var schemes: [LineScheme]? {
        get throws {
            let paths = try OutputPaths(output: folder.path("out.jsonl"), in: POSIXFileSystem())
            return try OutputSettings.read(at: paths, in: POSIXFileSystem())?.lines
        }
    }

    /// As versions did that hashed all bytes of a line.
    /// - Parameter count: how many lines are done; the run ends there if they are not all.
    private func runOfEarlierVersion(_ count: Int = .max) throws {
        let store = try JournalStore(
            output: folder.path("out.jsonl"), fingerprint: RunFingerprint([("job.number", "1")]))
        let keys = lines.enumerated().map { number, line in
            WorkKey(id: "l\(number)", contentHash: LineHash.value(of: Array(line.utf8)))
        }
        for (position, key) in keys.enumerated() { _ = try store.claim(key, position: position) }
        for (position, key) in keys.enumerated().prefix(count) {
            try store.append(
                GenerationResult(
                    GeneratedResult(
                        text: "earlier", finishReason: .stop, promptTokens: 1, completionTokens: 1)),
                key: key, position: position)
        }
        if count >= lines.count {
            try store.finish(count: lines.count)
        } else {
            try store.suspend()
        }
    }

    @Test func outputsOfEarlierVersionsCount() throws {
        try runOfEarlierVersion()
        #expect(try schemes == [.bytes])
        let before = try folder.bytes("out.jsonl")
        #expect(try run(job()).skipped == 20)
        let (after, known) = (try folder.bytes("out.jsonl"), try schemes)
        #expect(after == before)
        // A run that has nothing to do adds what it saw of the input, and by what it knows lines.
        #expect(try known == [LineScheme(job()), .bytes])
        // One line changes: its result is made, and the others stay as they were.
        try write([lines[0].replacing("ask", with: "say")] + lines.dropFirst())
        #expect(try run(job()).done == 1)
        #expect(try schemes == [LineScheme(job()), .bytes])
        let mixed = try folder.text("out.jsonl")
        #expect(mixed.ranges(of: "\"earlier\"").count == 19)
        #expect(try run(job()).skipped == 20)
        #expect(try folder.text("out.jsonl") == mixed)
    }

    @Test func journalsOfEarlierVersionsGoOn() throws {
        try runOfEarlierVersion(12)
        let first = try store(job())
        #expect(first.earlierSchemes == [.bytes])
        let stop = StopFlag()
        stop.set()
        let broken = try Runner(job: job(), model: ScriptedModel().loaded, store: first, stopFlag: stop).run()
        #expect(broken.status == .interrupted)
        let statistics = try run(job())
        #expect(statistics.skipped == 12 && statistics.done == 8)
        #expect(try run(job()).skipped == 20)
    }

    /// Results that other templates have made are known by the fields that those name.
    @Test func otherTemplatesKeepResults() throws {
        #expect(try run(job()).done == 20)
        #expect(try run(job("{{ b }}", keep: .all), "2", ifChanged: .keep).skipped == 20)
        // Nothing counts for the earlier run's results that it didn't use; for the new run's, all does.
        let changed = lines.map { $0.replacing("tell 3\"", with: "ask\"") }
        let more = "{\"id\":\"new\",\"a\":\"1\",\"b\":\"2\",\"c\":3}"
        try write(changed + [more])
        let statistics = try run(job("{{ b }}", keep: .all), "2", ifChanged: .keep)
        #expect(statistics.skipped == 20 && statistics.done == 1)
        try write(changed + [more.replacing("3}", with: "4}")])
        #expect(try run(job("{{ b }}", keep: .all), "2").done == 1)
        try write(changed.map { $0.replacing("ask 5", with: "ask 6") } + [more.replacing("3}", with: "4}")])
        #expect(try run(job("{{ b }}", keep: .all), "2").done == 1)
    }

    @Test func freshnessGoesByTheSame() throws {
        try runOfEarlierVersion()
        func freshness() throws -> JobFreshness? {
            var job = job()
            job.output = folder.path("out.jsonl")
            return try JobFreshness(job, cache: .off)
        }
        #expect(try freshness()?.changed == 0 && freshness()?.gone == 0)
        _ = try run(job())
        try write(lines.map { $0.replacing("\"timing\":", with: "\"timing\":1") })
        // By bytes all have changed; by what is used, none would have.
        #expect(try freshness()?.changed == 20)
        try write(lines.map { $0.replacing("ask 7", with: "say 7") })
        #expect(try freshness()?.changed == 1)
    }
}
