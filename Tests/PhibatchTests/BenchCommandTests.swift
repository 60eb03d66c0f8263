import Foundation
import Testing

@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct BenchCommandTests {
    private struct Report: Decodable {
        struct Run: Decodable {
            struct Step: Decodable {
                var seconds: Double
                var ofMemory: Double
                var memoryBytesPerSecond: Double
            }
            var test: String
            var requests: Int
            var promptTokens: Int
            var generatedTokens: Int
            var tokensPerSecond: Double
            var ofMemory: Double
            var attentionOfMemory: Double?
            var steps: [Step]
        }
        var tests: [Run]
    }

    private func bench(_ options: [String]) throws -> Program.Result {
        try Program.run(["bench", "--model", DemoJob.model ?? ""] + options)
    }

    private static let small = [
        "--prefill", "520", "--prompt", "4", "--generate", "3", "--batch", "1,2", "--repeats", "2",
    ]

    /// Every step of every run beside what memory gave at that time.
    @Test func reportAddsUp() throws {
        let result = try bench(Self.small + ["--json"])
        #expect(result.status == 0, "\(result.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let runs = try decoder.decode(Report.self, from: Data(result.output.utf8)).tests
        #expect(runs.map(\.test) == ["prefill", "generation", "generation"])
        #expect(runs.map(\.requests) == [1, 1, 2])
        #expect(runs.map(\.promptTokens) == [520, 4, 8])
        #expect(runs.map(\.generatedTokens) == [0, 3, 6])
        #expect(runs.map(\.steps.count) == [4, 6, 6])
        #expect(runs.map { ($0.attentionOfMemory ?? 0) > 0 } == [false, true, true])
        for run in runs {
            // The faster of two runs counts; the upper of the middle ones, if the number of steps is even.
            let shares = run.steps.map(\.ofMemory).sorted()
            #expect(run.ofMemory == shares[shares.count / 2])
            let perRun = run.steps.count / 2
            let speeds = [run.steps.prefix(perRun), run.steps.suffix(perRun)].map { steps in
                Double(run.generatedTokens > 0 ? run.generatedTokens : run.promptTokens)
                    / steps.reduce(0) { $0 + $1.seconds }
            }
            #expect(abs(run.tokensPerSecond / (speeds.max() ?? 0) - 1) < 1e-9)
            // Slower than any memory, faster than any: something is counted wrong.
            #expect(run.steps.allSatisfy { (1e7..<1e13).contains($0.memoryBytesPerSecond) })
        }
    }
}
