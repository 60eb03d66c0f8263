import BatchEngine
import Foundation
import TestSupport
import Testing

@testable import PhiModel

/// The answers to a tree's questions are, to the last bit, those of each choice scored by itself: with any number of
/// threads, in any steps, in caches with room and without.
@Suite struct ChoiceBitsTests {
    private static let ends: Set<Int32> = [1, 2]
    /// Some begin alike; one goes beyond a block of the cache.
    private static let choices: [[Int32]] = [
        [30], [31, 40, 41], [31, 40], [31, 42], (0..<70).map { Int32($0 % 9 + 50) }, [50, 51, 7],
    ]
    private static let prompts: [[Int32]] = [5, 61, 64, 150].map { count in
        (0..<count).map { Int32($0 * 29 % 200 + 10) }
    }

    @Test(arguments: ["base", "sliding-window", "phi-4-flash"])
    func bitsAreThoseOfScores(name: String) throws {
        try SyntheticCheckpoint.named(name).written { folder in
            func run(
                _ requests: [Request], workers: Int, chunk: Int, threads: Int, kernels: Kernels? = nil,
                blocks: Int = 100
            ) throws -> ([Int: [UInt32]], Int) {
                let engine = try PhiEngine(
                    folder: folder.path,
                    options: .blocks(
                        blocks, folder: folder.path, sequences: 8, threads: threads, kernels: kernels))
                let (list, preemptions) = RequestList.run(
                    requests, on: engine, workers: workers, chunk: chunk
                ) { sequence, _ in
                    (sequence.request.kind is Scoring
                        ? sequence.decoding.of(ScoringDecoding.self).logprobs
                        : sequence.decoding.of(LabelTreeScoring.self).answers).map(\.bitPattern)
                }
                return (list.endings, preemptions)
            }
            let tree = LabelTree(Self.choices, ends: Self.ends)
            let requests = Self.prompts.enumerated().map { number, prompt in
                Request(prompt: prompt, kind: tree, number: number)
            }
            let (found, _) = try run(requests, workers: 4, chunk: 512, threads: 2)
            // Each choice with each end by itself.
            let single = Self.prompts.flatMap { prompt in
                Self.choices.flatMap { choice in
                    Self.ends.sorted().map { (prompt: prompt, scored: choice + [$0]) }
                }
            }
            let (scores, _) = try run(
                single.enumerated().map {
                    Request(prompt: $1.prompt, kind: Scoring($1.scored), number: $0)
                }, workers: 8, chunk: 512, threads: 2)
            var number = 0
            for prompt in Self.prompts.indices {
                let answers = try #require(found[prompt])
                for choice in Self.choices.indices {
                    let path = tree.path(of: choice)
                    for end in path.ends {
                        #expect(path.tokens.map { answers[$0] } + [answers[end]] == scores[number])
                        number += 1
                    }
                }
            }
            #expect(Set(found.values.flatMap { $0 }).count > 50, "the comparison must mean something")
            for kernels in Kernels.available {
                #expect(try run(requests, workers: 1, chunk: 7, threads: 1, kernels: kernels).0 == found)
            }
            let (tight, preemptions) = try run(requests, workers: 4, chunk: 20, threads: 3, blocks: 6)
            #expect(tight == found && preemptions > 0)
        }
    }
}
