import BatchEngine
import Foundation
import PhiModel
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Near the end of the input, long requests begin before short ones.
@Suite struct LongestFirstTests {
    /// - Parameter lengths: of the completions, in tokens.
    private static func lines(_ lengths: [Int]) -> String {
        lengths.enumerated().map { "{\"id\":\"l\($0)\",\"prompt\":\"\($0)\",\"max_tokens\":\($1)}\n" }
            .joined()
    }

    /// - Returns: how many steps a job with eight workers takes, and its results.
    private func run(
        _ lengths: [Int], output: String, _ change: (inout JobSettings) -> Void = { _ in }
    ) throws -> (steps: Int, lines: [String]) {
        let folder = try TestFolder()
        let path = try folder.write(Self.lines(lengths), to: "in.jsonl")
        let model = ScriptedModel()
        model.endOdds = .max
        let job = JobSettings.test(input: [path]) { job in
            job.engine.workers = 8
            job.output = output
            change(&job)
        }
        let (models, store) = (ModelLoader { model.loaded }, MemoryStore())
        let run = try JobRun(job: job, models: models, store: store, readsAhead: false)
        let outcome = try Runner(job: run, models: models).run()
        #expect(outcome.status == .complete && model.faults.isEmpty)
        return (model.steps, (store.output ?? []).map(withoutTiming))
    }

    @Test(arguments: [1, 2, 3, 4, 5]) func theEndDoesNotWaitForTheLast(seed: UInt64) throws {
        var random = FixedRandom(seed)
        var lengths = (0..<(40 + 25 * Int(seed))).map { _ in
            Int.random(in: 0..<10, using: &random) == 0
                ? Int.random(in: 100...200, using: &random) : Int.random(in: 5...20, using: &random)
        }
        lengths.append(200)
        let (inOrder, expected) = try run(lengths, output: "-")
        let (steps, lines) = try run(lengths, output: "out.jsonl")
        #expect(lines == expected)
        let least = max(lengths.reduce(0, +) / 8, 200)
        // The first eight begin in order: the input is not seen as a whole by then.
        #expect(steps < least + 60, "\(steps) steps, in order \(inOrder), and \(least) at least")
        #expect(steps + 40 < inOrder, "\(steps) steps, in order \(inOrder), and \(least) at least")
    }

    /// Those that an earlier run has nearly done, and those with short prompts, come later.
    @Test func costIsWhatIsLeft() throws {
        let model = ScriptedModel()
        func request(_ prompt: Int, _ most: Int, saved: Int = 0) -> Request {
            var request = Request(
                prompt: Array(repeating: 1, count: prompt),
                kind: Sampling(
                    maxTokens: most, sampling: SamplingParameters(), stream: 0, endOfSequence: [],
                    stops: .none, text: model.makeTextStream()))
            request.saved = SavedDecoding(tokens: Array(repeating: 1, count: saved))
            return request
        }
        var expected = ExpectedLength()
        func cost(_ prompt: Int, _ most: Int, saved: Int = 0) -> Double {
            expected.cost(of: .request(.test(0, request(prompt, most, saved: saved))))
        }
        #expect(cost(10, 100) > cost(10, 99) && cost(11, 100) > cost(10, 100))
        #expect(cost(10, 100, saved: 50) < cost(10, 60))
        #expect(cost(200, 50) < cost(10, 100))
        let longer = request(5, 21, saved: 20)
        let decoding = try #require(
            longer.saved.flatMap {
                longer.kind.decoding(
                    $0, after: longer.prompt, vocabularySize: model.limits.vocabularySize)
            })
        expected.note(EndedRequest(request: request(5, 20), decoding: decoding, provenance: [:]))
        #expect(cost(160, 90) == 10 + 90, "it had all that it might")
    }

    @Test func thoseInterruptedEndTheSame() throws {
        let folder = try TestFolder()
        var random = FixedRandom(7)
        let lengths = (0..<50).map { _ in Int.random(in: 1...60, using: &random) }
        let path = try folder.write(Self.lines(lengths), to: "in.jsonl")
        let job = JobSettings.test(input: [path]) { job in
            job.samples = 2
            job.temperature = 1
            job.engine.workers = 6
        }
        let (_, expected) = try ScriptedRun.run(job)
        #expect(try ScriptedRun.stopped(job, seed: 7, steps: 60) == expected)
    }
}
