import BatchEngine
import Foundation
import TestSupport
import Testing

@testable import PhiModel

/// Sequences that give way in the middle and are computed again get the same tokens and log-probabilities, to
/// the last bit, as in a cache with room for all; and so do those with draft tokens.
@Suite struct PreemptionTests {
    /// Some repeat themselves; some share their first 128 tokens, and ceilings lie on both sides of LongRoPE's limit.
    private static let requests = (0..<9).map { (number: Int) -> Request in
        let shared = number % 3 == 0 ? (0..<128).map { Int32($0 * 29 % 311 + 3) } : []
        let own = (0..<10 + 11 * number).map { Int32(($0 * 37 + number * 11) % 311 + 3) }
        return Request(
            prompt: shared + own,
            kind: Sampling(
                maxTokens: 100 + 13 * number,
                sampling: SamplingParameters(temperature: number % 4 == 1 ? 0 : 0.9, logprobs: 5),
                stream: UInt64(number), endOfSequence: [], stops: .none, text: NoStream()),
            number: number)
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
        try geometry.written { folder in
            func run(
                _ blocks: Int, chunk: Int, lookahead: Int, _ speculation: Speculation = .off
            ) throws -> (list: RequestList<[String]>, preemptions: Int) {
                let engine = try PhiEngine(
                    folder: folder.path,
                    options: .blocks(blocks, folder: folder.path, sequences: 9, threads: 2))
                return RequestList.run(
                    Self.requests, on: engine, workers: 20, chunk: chunk, lookahead: lookahead, speculation,
                    note: { "\($0.token) \($0.top.map { "\($0.id):\($0.logprob.bitPattern)" })" }
                ) { $0.decoding.saved.notes + $1.values }
            }
            let (expected, preemptions) = try run(100, chunk: 512, lookahead: 0)
            #expect(expected.isComplete && preemptions == 0)
            #expect(expected.endings.values.allSatisfy { $0.count >= 100 } && expected.endings.count == 9)
            let drafting = try run(100, chunk: 512, lookahead: 0, .tokens(20)).list
            #expect(drafting.endings == expected.endings, "drafting")
            let drafted = drafting.reports.reduce(0) { $0 + $1.drafted }
            let accepted = drafting.reports.reduce(0) { $0 + $1.acceptedDrafts }
            // Phi-3-small's embedding outweighs its layers, so that it repeats itself.
            #expect(drafted > 2 * accepted || name == "phi-3-small")
            // That one does not repeat itself, so that all draft tokens are taken back.
            #expect(accepted > 0 || name == "phi-4-flash")
            // The longest needs seven blocks.
            for (blocks, chunk, lookahead, most) in [(8, 512, 0, 1), (10, 20, 1, 7)] {
                let (tight, preemptions) = try run(
                    blocks, chunk: chunk, lookahead: lookahead, .tokens(most))
                #expect(preemptions > 0, "\(blocks) blocks")
                #expect(tight.isComplete && tight.endings == expected.endings, "\(blocks) blocks")
            }
        }
    }
}
