import BatchEngine
import Testing

@testable import BatchPipeline
@testable import Jobs

/// What a report reads: finished outputs, and logs of stopped runs.
@Suite struct ReportSourceTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static let fingerprint = RunFingerprint([("model.config", "m"), ("job.seed", "1")])

    static func completion(
        _ text: String, prompt: Int = 3, made: Int = 2, seconds: Double = 1, ended: Double? = nil
    ) -> GenerationResult {
        GenerationResult(
            GeneratedResult(
                text: text, finishReason: .stop, promptTokens: prompt, completionTokens: made, seed: 1),
            timing: .init(
                queued: 0, prefill: 0, decode: seconds, tokensPerSecond: Double(made) / seconds, ended: ended),
            kept: [.init(name: "topic", json: "\"a\\nb\"")])
    }
    private static let failure = GenerationResult.failure(
        .init(LineError(.promptTooLong, "Too long."), line: 4))

    /// A finished output and its log.
    private func putOutput(_ results: [GenerationResult]) throws {
        let store = try LogStore(output: folder.path("out"), fingerprint: Self.fingerprint)
        let keys = results.indices.map { ResultKey(id: "id\($0)", contentHash: UInt64($0)) }
        for (number, key) in keys.enumerated() { _ = try store.claim(key, position: number) }
        for (number, key) in keys.enumerated() {
            try store.append(results[number], key: key, position: number)
        }
        try store.finish(count: keys.count)
    }

    private func read(_ path: String) throws -> (source: ReportSource, results: [ReportedResult]) {
        let source = try ReportSource(path)
        var results: [ReportedResult] = []
        try source.visit {
            results.append($0)
            return true
        }
        return (source, results)
    }

    @Test func nativeResults() throws {
        try putOutput([Self.completion("one"), Self.failure])
        let (source, results) = try read(folder.path("out"))
        #expect(source.state == .complete && source.damaged == 0)
        #expect(results.map(\.key.id) == ["id0", "id1"])
        #expect(results.map(\.key.contentHash) == [0, 1])
        #expect(results.map(\.status) == ["stop", "prompt_too_long"])
        #expect(results.map(\.text) == ["one", nil])
        #expect(results.map(\.message) == [nil, "Too long."])
        #expect(results[0].facts.map(\.value) == ["a\nb"])
        #expect((results[0].promptTokens, results[0].completionTokens) == (3, 2))
    }

    @Test func scoresHaveALineEach() throws {
        let scored = ScoredResult(
            [.init([-0.5, -1]), .init([-0.25])], isList: true, promptTokens: 3)
        let result = ReportedResult(GenerationResult(scored), "a")
        #expect(result.status == "scored" && !result.isFailed)
        #expect(result.text == "0: mean -0.75, sum -1.5, tokens 2\n1: mean -0.25, sum -0.25, tokens 1")
        #expect((result.promptTokens, result.completionTokens) == (3, 3))
        #expect(result.facts.map(\.value) == ["1"])
    }

    @Test func filesWithoutResultsAreErrors() throws {
        #expect(throws: UserError.self) { try ReportSource(folder.path("none")) }
        #expect(throws: UserError.self) { try ReportSource(folder.url.path) }
        try folder.write(Array("a,b\n1,2\n".utf8), to: "csv")
        let error = #expect(throws: UserError.self) { try read(folder.path("csv")) }
        #expect(error?.message.contains("not its log") == true)
    }

    /// A stopped run leaves its own results, and those of an earlier output that still count.
    @Test func logsOfStoppedRuns() throws {
        let earlier = [Self.completion("old"), Self.completion("kept")]
        try putOutput(earlier)
        func record(_ id: String, _ content: UInt64, _ result: GenerationResult) -> [UInt8] {
            ResultRecord(
                key: ResultKey(id: id, sample: 0, contentHash: content), repetition: 0,
                run: Self.fingerprint.digest, result: result
            ).line + [0x0a]
        }
        var header = LogHeader(fingerprint: Self.fingerprint)
        let records = record("id0", 7, Self.failure) + record("id9", 9, Self.completion("new"))
        let begun = header.line + [0x0A] + records
        try folder.write(
            folder.bytes("out.log") + begun + Array("{\"sum\":\"torn".utf8), to: "out.log")
        let (source, results) = try read(folder.path("out"))
        #expect(source.state == .stopped)
        #expect(results.map(\.key.id) == ["id0", "id1", "id9"])
        #expect(results.map(\.text) == [nil, "kept", "new"])
        #expect(source.settings.map(\.name) == ["model.config", "job.seed"])
        header.isRestarted = true
        try folder.write(header.line + [0x0A] + records, to: "out.log")
        let anew = try read(folder.path("out"))
        #expect(anew.results.map(\.key.id) == ["id0", "id9"])
    }

    @Test func statisticsAreThoseCountedByHand() throws {
        var statistics = ReportStatistics()
        let results = (1...4).map {
            Self.completion("x", prompt: $0, made: 10 * $0, seconds: Double($0), ended: 1000 + Double($0))
        }
        for (number, result) in (results + [Self.failure]).enumerated() {
            statistics.add(ReportedResult(result, "\(number)"))
        }
        #expect((statistics.promptTokens, statistics.completionTokens) == (10, 100))
        #expect(statistics.total.percentiles([50, 99]) == [2, 4])
        #expect(statistics.times["tokens_per_second"]?.percentiles([50]) == [10])
        #expect(statistics.statuses.map(\.name) == ["stop", "prompt_too_long"])
        #expect(statistics.statuses.map(\.count) == [4, 1])
        #expect(statistics.statuses[1].messages.top(5) == [.init(text: "Too long.", count: 1)])
        // All four end a second apart, and each began at 1000.
        #expect((statistics.throughput.first, statistics.throughput.last) == (1000, 1004))
        #expect(statistics.throughput.curve().rates.prefix(8).allSatisfy { $0.rate == 40 })
    }
}

extension ReportedResult {
    init(_ result: GenerationResult, _ id: String) {
        self.init(result, ResultKey(id: id, contentHash: 0))
    }
}
