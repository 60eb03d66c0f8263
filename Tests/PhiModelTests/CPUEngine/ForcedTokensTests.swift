import BatchEngine
import Foundation
import TestSupport
import Testing

@testable import PhiModel

/// On a model: what a constraint makes certain gives the same tokens in one step as one by one, with room and
/// without.
@Suite struct ForcedTokensTests {
    private struct Ending: Equatable {
        let tokens: [Int32]
        let reason: FinishReason?
        let notes: [String]
    }

    private static func requests(
        _ sampling: SamplingParameters, _ change: (Stretches) -> any Constraint = { $0 }
    ) -> [Request] {
        (0..<6).map { (number: Int) -> Request in
            let constraint = change(
                Stretches(free: 12, opening: 3 * number, longest: 5 + 3 * number, end: 2, vocabularySize: 320)
            )
            let prompt = (0..<10 + 11 * number).map { Int32(($0 * 37 + number * 11) % 311 + 3) }
            return Request(
                prompt: prompt,
                kind: Sampling(
                    maxTokens: 100 + 10 * number, sampling: sampling, form: { _ in constraint },
                    stream: UInt64(number), endOfSequence: [2], stops: .none, text: NoStream()),
                number: number)
        }
    }

    @Test func tokensAreTheSameTogetherAndOneByOne() throws {
        try SyntheticCheckpoint.named("base").written { folder in
            func run(
                _ requests: [Request], budget: Int = 64 << 20, _ speculation: Speculation = .off
            ) throws -> (list: RequestList<Ending>, preemptions: Int) {
                let engine = try PhiEngine(
                    folder: folder.path, options: EngineOptions(threads: 2, kvBudget: budget))
                return RequestList.run(
                    requests, on: engine, workers: 6, chunk: 40, speculation,
                    note: { "\($0.logprob?.bitPattern ?? 0)" }
                ) { sequence, _ in
                    Ending(
                        tokens: sequence.decoding.sampled,
                        reason: sequence.decoding.of(SamplingDecoding.self).finishReason,
                        notes: sequence.decoding.saved.notes)
                }
            }
            let rules = LogitRules(presencePenalty: 0.5, repetitionPenalty: 1.2)
            for sampling in [
                SamplingParameters(temperature: 0.9, topP: 0.95, rules: rules), SamplingParameters(),
            ] {
                let expected = try run(Self.requests(sampling) { Unforced($0) }).list
                #expect(expected.endings.count == 6)
                #expect(expected.endings.values.contains { $0.reason == .stop })
                let together = try run(Self.requests(sampling)).list
                #expect(together.endings == expected.endings)
                #expect(together.reports.count * 2 < expected.reports.count)
                let blockBytes =
                    try PhiEngine(folder: folder.path, options: EngineOptions(kvBudget: 64 << 20))
                    .kvBytesPerToken * KVCache.blockLength
                let (tight, preemptions) = try run(
                    Self.requests(sampling), budget: 5 * blockBytes, .tokens(5))
                #expect(preemptions > 0 && tight.endings == expected.endings)
                // Asked for log-probabilities, each token has its own.
                var withLogprobs = sampling
                withLogprobs.logprobs = 0
                let noted = try run(Self.requests(withLogprobs)).list.endings
                #expect(try noted == run(Self.requests(withLogprobs) { Unforced($0) }).list.endings)
                #expect(noted.mapValues(\.tokens) == expected.endings.mapValues(\.tokens))
                #expect(noted.values.allSatisfy { $0.notes.count == $0.tokens.count })
            }
        }
    }
}
