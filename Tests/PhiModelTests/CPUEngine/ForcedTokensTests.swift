import BatchEngine
import Foundation
import TestSupport
import Testing

@testable import PhiModel

/// On a model: what a constraint makes certain gives the same tokens in one step as one by one, with room and
/// without.
@Suite struct ForcedTokensTests {
    private final class List: RequestSource {
        let workers = 6
        var speculation = Speculation.off
        let isCancelled = false
        private var requests: [Request]
        private(set) var tokens: [Int: [Int32]] = [:]
        private(set) var reasons: [Int: FinishReason] = [:]
        private(set) var notes: [Int: [String]] = [:]
        private(set) var steps = 0

        init(_ requests: [Request]) { self.requests = requests.reversed() }
        func next(patience: Double) -> SourceAnswer { requests.popLast().map { .request($0) } ?? .end }
        func note(on choice: TokenChoice) -> String? { "\(choice.logprob?.bitPattern ?? 0)" }
        func finished(_ sequence: TokenSequence, provenance: [String: String]) {
            let number = sequence.request.label as? Int ?? -1
            tokens[number] = sequence.course.sampled
            reasons[number] = sequence.outcome(SamplingCourse.self).finishReason
            notes[number] = sequence.course.notes
        }
        func failed(_ sequence: TokenSequence, _ fault: ChoiceFault) {}
        func refused(_ request: Request, _ refusal: Refusal) throws { throw refusal }
        func stepped(_ report: StepReport, in loop: BatchLoop) { steps += 1 }
        func completed() {}
        func abandoned(_ live: [TokenSequence], error: (any Error)?) {}
    }

    private struct NoStream: TextStream {
        mutating func append(_ token: Int32) -> String { "" }
        mutating func finish() -> String { "" }
    }

    private static func requests(
        _ sampling: SamplingParameters, _ change: (Stretches) -> any Constraint = { $0 }
    ) -> [Request] {
        (0..<6).map { number in
            let constraint = Stretches(
                free: 12, opening: 3 * number, longest: 5 + 3 * number, end: 2, vocabularySize: 320)
            return Request(
                prompt: (0..<10 + 11 * number).map { Int32(($0 * 37 + number * 11) % 311 + 3) },
                goal: Sampling(
                    maxTokens: 100 + 10 * number, sampling: sampling, constraint: change(constraint),
                    stream: UInt64(number), endOfSequence: [2], stops: .none, text: NoStream()),
                label: number)
        }
    }

    @Test func tokensAreTheSameTogetherAndOneByOne() throws {
        let geometry = try #require(LogitsTests.geometries.first { $0.name == "base" })
        try withTemporaryFolder { folder in
            try geometry.write(to: folder)
            func run(
                _ requests: [Request], budget: Int = 64 << 20, _ speculation: Speculation = .off
            ) throws -> (List, BatchLoop) {
                let engine = try PhiEngine(
                    folder: folder.path, options: EngineOptions(threads: 2, kvBudget: budget))
                let list = List(requests)
                list.speculation = speculation
                let loop = BatchLoop(
                    scheduler: Scheduler(workers: 6, prefillChunk: 40, lookahead: 0)
                ) { engine }
                loop.add(list)
                loop.run()
                return (list, loop)
            }
            let rules = LogitRules(presencePenalty: 0.5, repetitionPenalty: 1.2)
            for sampling in [
                SamplingParameters(temperature: 0.9, topP: 0.95, rules: rules), SamplingParameters(),
            ] {
                let (expected, _) = try run(Self.requests(sampling) { Unforced($0) })
                #expect(expected.tokens.count == 6 && expected.reasons.values.contains(.stop))
                let (together, _) = try run(Self.requests(sampling))
                #expect(together.tokens == expected.tokens && together.reasons == expected.reasons)
                #expect(together.steps * 2 < expected.steps, "\(together.steps) of \(expected.steps)")
                let blockBytes =
                    try PhiEngine(folder: folder.path, options: EngineOptions(kvBudget: 64 << 20))
                    .kvBytesPerToken * KVCache.blockLength
                let (tight, loop) = try run(
                    Self.requests(sampling), budget: 5 * blockBytes, .always(5))
                #expect(loop.preemptions > 0)
                #expect(tight.tokens == expected.tokens && tight.reasons == expected.reasons)
                // Asked for log-probabilities, each token has its own.
                var withLogprobs = sampling
                withLogprobs.logprobs = 0
                let (noted, _) = try run(Self.requests(withLogprobs))
                let (notedOneByOne, _) = try run(Self.requests(withLogprobs) { Unforced($0) })
                #expect(noted.tokens == expected.tokens && noted.notes == notedOneByOne.notes)
                #expect(noted.notes.allSatisfy { $0.value.count == noted.tokens[$0.key]?.count })
            }
        }
    }
}
