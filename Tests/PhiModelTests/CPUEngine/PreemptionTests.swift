import BatchEngine
import Foundation
import TestSupport
import Testing

@testable import PhiModel

/// Sequences that give way in the middle and are computed again get the same tokens and log-probabilities, to
/// the last bit, as in a cache with room for all; and so do those of which tokens are guessed ahead.
@Suite struct PreemptionTests {
    /// Requests, and a text for each that stands for all its rows.
    private final class List: RequestSource {
        let workers = 20
        let isCancelled = false
        let speculation: Speculation
        private(set) var guessed = 0
        private(set) var rightGuesses = 0
        private var requests: [Request]
        private(set) var rows: [Int: [String]] = [:]
        private(set) var isComplete = false

        init(_ requests: [Request], _ speculation: Speculation) {
            self.requests = requests.reversed()
            self.speculation = speculation
        }
        func next(patience: Double) -> SourceAnswer { requests.popLast().map { .request($0) } ?? .end }
        func note(on choice: TokenChoice) -> String? {
            let logprobs = choice.top.map { "\($0.id):\($0.logprob.bitPattern)" }
            return "\(choice.token) \(logprobs)"
        }
        func finished(_ sequence: TokenSequence, provenance: [String: String]) {
            rows[sequence.request.label as? Int ?? -1] = sequence.course.notes + provenance.values
        }
        func failed(_ sequence: TokenSequence, _ fault: ChoiceFault) {}
        func refused(_ request: Request, _ refusal: Refusal) throws { throw refusal }
        func stepped(_ report: StepReport, in loop: BatchLoop) {
            guessed += report.guessed
            rightGuesses += report.rightGuesses
        }
        func completed() { isComplete = true }
        func abandoned(_ live: [TokenSequence], error: (any Error)?) {}
    }

    private struct NoStream: TextStream {
        mutating func append(_ token: Int32) -> String { "" }
        mutating func finish() -> String { "" }
    }

    /// Some repeat themselves; some share their first 128 tokens, and ceilings lie on both sides of LongRoPE's limit.
    private static let requests = (0..<9).map { number in
        let shared = number % 3 == 0 ? (0..<128).map { Int32($0 * 29 % 311 + 3) } : []
        let own = (0..<10 + 11 * number).map { Int32(($0 * 37 + number * 11) % 311 + 3) }
        return Request(
            prompt: shared + own,
            goal: Sampling(
                maxTokens: 100 + 13 * number,
                sampling: SamplingParameters(temperature: number % 4 == 1 ? 0 : 0.9, logprobs: 5),
                stream: UInt64(number), endOfSequence: [], stops: .none, text: NoStream()),
            label: number)
    }

    @Test(arguments: [
        "base", "phi-4-mini-heads", "longrope-at-200", "sliding-window", "phi-mini-moe-28",
        "phi-3-small", "phi-4-flash",
    ])
    func bitsAreTheSame(name: String) throws {
        let geometries =
            LogitsTests.geometries + [
                .init(name: "longrope-at-200", rope: .longrope, context: 1024, originalContext: 200)
            ]
        let geometry = try #require(geometries.first { $0.name == name })
        try withTemporaryFolder { folder in
            try geometry.write(to: folder)
            func run(
                _ blocks: Int, chunk: Int, lookahead: Int, _ speculation: Speculation = .off
            ) throws -> (List, BatchLoop) {
                let engine = try PhiEngine(
                    folder: folder.path,
                    options: .blocks(blocks, folder: folder.path, sequences: 9, threads: 2))
                let list = List(Self.requests, speculation)
                let scheduler = Scheduler(workers: 20, prefillChunk: chunk, lookahead: lookahead)
                let loop = BatchLoop(scheduler: scheduler) { engine }
                loop.add(list)
                loop.run()
                return (list, loop)
            }
            let (expected, loop) = try run(100, chunk: 512, lookahead: 0)
            #expect(expected.isComplete && loop.preemptions == 0)
            #expect(expected.rows.values.allSatisfy { $0.count >= 100 } && expected.rows.count == 9)
            let (guessing, _) = try run(100, chunk: 512, lookahead: 0, .always(20))
            #expect(guessing.rows == expected.rows, "guessing")
            // Phi-3-small's embedding outweighs its layers, so that it repeats itself.
            #expect(guessing.guessed > 2 * guessing.rightGuesses || name == "phi-3-small")
            // That one does not repeat itself, so that all guesses are taken back.
            #expect(guessing.rightGuesses > 0 || name == "phi-4-flash")
            // The longest needs seven blocks.
            for (blocks, chunk, lookahead, most) in [(8, 512, 0, 1), (10, 20, 1, 7)] {
                let (tight, loop) = try run(
                    blocks, chunk: chunk, lookahead: lookahead, .always(most))
                #expect(loop.preemptions > 0, "\(blocks) blocks")
                #expect(tight.isComplete && tight.rows == expected.rows, "\(blocks) blocks")
            }
        }
    }
}
