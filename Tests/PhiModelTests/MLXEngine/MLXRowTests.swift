import BatchEngine
import TestSupport
import Testing

@testable import PhiModel

extension MLXTests {
    /// Several rows of a sequence about which something is asked, in one step.
    @Suite struct Rows {
        private static let text = Array(Batch.tokens.prefix(70))

        private func withEngine(_ body: (MLXEngine) throws -> Void) throws {
            try Batch.model.written { folder in
                try body(MLXEngine(folder: folder.path, options: EngineOptions(kvBudget: 8 << 20)))
            }
        }

        /// What a sequence chooses after the text, one token a step.
        private func plain(_ engine: MLXEngine, _ sampling: SamplingRequest, count: Int) throws -> [Int32] {
            var sampling = sampling
            var sequence = try #require(MLXSequence(engine, Self.text))
            defer { engine.release(sequence.cache) }
            for _ in 0..<count {
                let input = sequence.input(
                    sequence.tokens.count - sequence.length, asks: false, sampling: sampling)
                let choice = try #require(try engine.forward([input])[0].choice)
                sequence.tokens.append(choice.token)
                let isAllowed = sampling.accept(choice.token)
                #expect(isAllowed)
            }
            return Array(sequence.tokens[Self.text.count...])
        }

        /// Guesses that hold give as many choices; one that does not leaves the cache, and what comes after it, too.
        @Test(arguments: [Float(0), 0.9]) func guessesChangeNothing(temperature: Float) throws {
            try withEngine { engine in
                var sampling = SamplingRequest(
                    parameters: SamplingParameters(temperature: temperature), stream: 11)
                let expected = try plain(engine, sampling, count: 12)
                let sequence = try #require(MLXSequence(engine, Self.text))
                let other = try #require(MLXSequence(engine, Array(Self.text.prefix(31))))
                defer { for cache in [sequence.cache, other.cache] { engine.release(cache) } }
                var found: [Int32] = []
                var due = Self.text
                while found.count < expected.count {
                    // Two that are right, one that is not, and one that would be right after it.
                    var guesses = Array(expected[found.count...].prefix(4))
                    if guesses.count > 2 { guesses[2] = (guesses[2] + 1) % 320 }
                    var input = PassInput(sequence.cache, (due + guesses)[...])
                    var state = sampling
                    input.samplings = SmallArray(state)
                    for guess in guesses {
                        let isAllowed = state.accept(guess)
                        #expect(isAllowed)
                        input.samplings.append(state)
                    }
                    // Beside rows of another sequence, of which it takes as many again.
                    other.cache.length = 0
                    let beside = PassInput(other.cache, other.tokens[...])
                    let answer = try engine.forward([beside, input])[1]
                    let right = guesses.count > 2 ? 3 : guesses.count + 1
                    #expect(answer.choices.count == right)
                    for choice in answer.choices {
                        found.append(choice.token)
                        let isAllowed = sampling.accept(choice.token)
                        #expect(isAllowed)
                    }
                    due = Array(found.suffix(1))
                }
                #expect(Array(found.prefix(expected.count)) == expected)
            }
        }

        /// Given tokens have the log-probabilities that they have one by one.
        @Test func givenTokensAreScored() throws {
            try withEngine { engine in
                let sequence = try #require(MLXSequence(engine, Self.text))
                defer { engine.release(sequence.cache) }
                _ = try engine.forward([sequence.input(60, asks: false)])
                // After each of the last ten tokens but one the next one, and two after the last.
                let targets = Array(Self.text[61...]) + [7, 8]
                let input = PassInput(
                    sequence.cache, Self.text[60...], targets: targets[...],
                    targetCounts: Array(repeating: 1, count: 9) + [2])
                let answer = try engine.forward([input])[0]
                #expect(answer.choices.isEmpty && answer.logprobs.count == 11)
                for (place, target) in targets.enumerated() {
                    let before = Array(Self.text.prefix(min(61 + place, 70)))
                    let alone = try MLXSequence.logprobs(engine, before)
                    #expect(abs(answer.logprobs[place] - alone[Int(target)]) < 1e-4, "target \(place)")
                }
            }
        }

        /// Samples of one prompt read its blocks together, and go their own ways.
        @Test func branchesShareTheirBeginning() throws {
            try withEngine { engine in
                let ways: [[Int32]] = [[5, 6, 7], [9, 8], [5, 6, 9, 10]]
                let first = try #require(MLXSequence(engine, Self.text, cacheable: .max))
                _ = try engine.forward([first.input(70, asks: false)])
                let branches = try ways.indices.map {
                    try #require(MLXSequence(engine, Self.text + ways[$0], cacheable: 69))
                }
                defer { for sequence in [first] + branches { engine.release(sequence.cache) } }
                #expect(branches.allSatisfy { $0.length == 64 })
                let inputs = branches.indices.map { place in
                    branches[place].input(6 + ways[place].count, asks: true)
                }
                let answers = try engine.forward(inputs)
                for (answer, way) in zip(answers, ways) {
                    let alone = try MLXSequence.logprobs(engine, Self.text + way)
                    #expect(distance(answer.logprobs, alone) < 1e-4, "\(way)")
                }
            }
        }
    }
}
