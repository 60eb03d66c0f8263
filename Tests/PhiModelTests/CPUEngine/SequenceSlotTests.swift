import BatchEngine
import Foundation
import TestSupport
import Testing

@testable import PhiModel

/// Sequences whose windows and states are in rings, however long they come to be.
@Suite struct SequenceSlotTests {
    private static let geometry = SyntheticCheckpoint(
        name: "slots", model: .phi4flash, layers: 8, tied: true, context: 1600, slidingWindow: 100,
        convolutionLength: 4, overrides: ["dt_proj": (0, 0)])

    /// The bits of the log-probabilities of all tokens but the first, all sequences advancing together.
    private func logprobs(_ engine: PhiEngine, _ sequences: [[Int32]], chunk: Int) throws -> [[UInt32]] {
        let caches = try sequences.map {
            try #require(try engine.begin(prompt: $0.dropLast(), maxTokens: 0))
        }
        defer { for cache in caches { engine.release(cache) } }
        var found = [[UInt32]](repeating: [], count: sequences.count)
        while true {
            let open = sequences.indices.filter { found[$0].count < sequences[$0].count - 1 }
            if open.isEmpty { return found }
            let inputs = open.map { number in
                let (tokens, first) = (sequences[number], found[number].count)
                let last = min(first + chunk, tokens.count - 1)
                return PassInput(
                    caches[number], tokens[first..<last], targets: tokens[first + 1..<last + 1]
                )
            }
            for (number, answer) in zip(open, try engine.forward(inputs)) {
                found[number] += answer.logprobs.map(\.bitPattern)
            }
        }
    }

    /// A ring takes some hundred rows at a time: what is more comes in parts.
    @Test func longStepsComeInParts() throws {
        let long = (0..<1500).map { (place: Int) -> Int32 in
            let turn = place / 311
            return Int32((place * 37 + turn * 5) % 311 + 3)
        }
        let sequences = [Array(long[40..<90]), long, Array(long[100..<800])]
        try Self.geometry.written { folder in
            let engine = try PhiEngine(
                folder: folder.path, options: EngineOptions(threads: 2, kvBudget: 64 << 20))
            let slots = engine.rows.cache.slots
            let most = try #require(slots).rows(blockLength: KVCache.blockLength)
            #expect(most >= 512 && most < 699)
            let expected = try logprobs(engine, sequences, chunk: 64)
            #expect(expected.map(\.count) == [49, 1499, 699] && Set(expected.joined()).count > 2000)
            for chunk in [most, 2000] {
                #expect(try logprobs(engine, sequences, chunk: chunk) == expected, "\(chunk) rows")
            }
            // With memory of none of them.
            let exact = try engine.logProbabilities(of: long, from: 1)
            for (exact, bits) in zip(exact, expected[1]) {
                #expect(abs(exact - Double(Float(bitPattern: bits))) < 1e-4)
            }
        }
    }

    @Test func roomIsSharedBetweenSlotsAndBlocks() throws {
        try Self.geometry.written { folder in
            let shape = try Architectures.read(folder: folder.path).shape
            let own = KVCache.bytes(shape, .int8, tokens: 0)
            for (budget, blocks) in [(2 * own + 20_000, 1), (64 << 20, 64)] {
                let cache = try KVCache(shape, precision: .int8, budget: budget)
                let (capacity, blockBytes, slots) = (cache.capacity, cache.blockBytes, cache.slots)
                let count = try #require(slots).count
                #expect(count >= 1 && capacity >= blocks * count)
                let all = (count + 1) * own + capacity * blockBytes
                #expect(all <= budget)
            }
        }
    }
}
