import BatchEngine
import TestSupport
import Testing

@testable import PhiModel

extension MLXTests {
    /// What many sequences do together.
    @Suite struct Batch {
        static let tokens: [Int32] = (0..<300).map { Int32(($0 * 37 + 11) % 317 + 3) }
        static let model = SyntheticCheckpoint(
            name: "mlx-batch", layers: 2, rope: .longrope, context: 512, originalContext: 128, floats: .f32)

        private func withEngine(
            _ model: SyntheticCheckpoint = model, budget: Int = 8 << 20, _ body: (MLXEngine) throws -> Void
        ) throws {
            try model.written { folder in
                try body(MLXEngine(folder: folder.path, options: EngineOptions(kvBudget: budget)))
            }
        }

        /// Rows of different lengths and of both sets of rotary factors, prompts in pieces, sequences that come and go.
        @Test(arguments: [nil, 40]) func eachRowIsAsIfAlone(window: Int?) throws {
            var model = Self.model
            model.slidingWindow = window
            try withEngine(model) { engine in
                func tokens(_ number: Int, _ count: Int) -> [Int32] {
                    Array(Self.tokens[number..<number + count])
                }
                let texts = [tokens(0, 3), tokens(40, 70), tokens(9, 131), tokens(77, 64), tokens(100, 200)]
                let ceilings = [64, 100, 320, 65, 320]
                let sequences = try texts.indices.map {
                    try #require(MLXSequence(engine, texts[$0], ceiling: ceilings[$0]))
                }
                // All but some tokens, in pieces of 50 at most, with others' single tokens between them.
                var answers: [Int: [Float]] = [:]
                var open = Set(texts.indices)
                while !open.isEmpty {
                    var inputs: [(Int, PassInput)] = []
                    for number in open.sorted() {
                        let left = texts[number].count - sequences[number].length
                        let count = left > 5 ? min(50, left - 5) : 1
                        inputs.append((number, sequences[number].input(count, asks: left == 1)))
                        if left == 1 { open.remove(number) }
                    }
                    for ((number, _), answer) in zip(inputs, try engine.forward(inputs.map(\.1))) {
                        if !answer.logprobs.isEmpty { answers[number] = answer.logprobs }
                    }
                    for number in texts.indices where !open.contains(number) {
                        engine.release(sequences[number].cache)
                    }
                }
                for number in texts.indices {
                    let alone = try MLXSequence.logprobs(engine, texts[number], ceiling: ceilings[number])
                    #expect(distance(try #require(answers[number]), alone) < 1e-4, "sequence \(number)")
                }
            }
        }

        /// One of two sequences side by side has room for more than it has come to, in memory that is not there yet.
        @Test func whatIsNobodysIsLookedAtByNobody() throws {
            try withEngine { engine in
                let text = Array(Self.tokens.prefix(70))
                let expected = try [70, 30].map { try MLXSequence.logprobs(engine, Array(text.prefix($0))) }
                let sequences = try [70, 30].enumerated().map {
                    try #require(MLXSequence(engine, Array(text.prefix($1)), ceiling: 300 + $0))
                }
                _ = try engine.forward([
                    sequences[0].input(69, asks: false), sequences[1].input(29, asks: false),
                ])
                let answers = try engine.forward(sequences.indices.map { sequences[$0].input(1, asks: true) })
                for (answer, expected) in zip(answers, expected) {
                    #expect(distance(answer.logprobs, expected) < 1e-4)
                }
            }
        }

        @Test func theRotaryFactorsAreChosenByTheCeiling() throws {
            try withEngine { engine in
                let text = Array(Self.tokens.prefix(60))
                let short = try MLXSequence.logprobs(engine, text, ceiling: 128)
                let long = try MLXSequence.logprobs(engine, text, ceiling: 129)
                #expect(distance(short, long) > 0.01)
                let cache = try #require(MLXSequence(engine, text, ceiling: 129)).cache
                #expect(engine.provenance(of: cache)["rope"] == "long")
                #expect(engine.provenance(of: cache)["engine"]?.hasPrefix("mlx ") == true)
            }
        }

        @Test func beginningsAreSharedAndSequencesGoBack() throws {
            try withEngine { engine in
                let text = Array(Self.tokens.prefix(150))
                let expected = try MLXSequence.logprobs(engine, text)
                let first = try #require(MLXSequence(engine, text, cacheable: .max))
                _ = try engine.forward([first.input(150, asks: false)])
                var second = try #require(MLXSequence(engine, text, cacheable: .max))
                #expect(second.length == 128, "two blocks are there already")
                #expect(
                    distance(try engine.forward([second.input(22, asks: true)])[0].logprobs, expected) < 1e-4)
                // Other tokens after the prompt, which are then taken back.
                _ = try engine.forward([PassInput(second.cache, [5, 6, 7])])
                second.cache.length = 149
                let input = PassInput(
                    second.cache, text[149...], targets: Self.all, targetCounts: [320])
                #expect(distance(try engine.forward([input])[0].logprobs, expected) < 1e-4)
                engine.release(second.cache, keeping: text)
                engine.release(first.cache)
                second = try #require(MLXSequence(engine, text, cacheable: .max))
                #expect(second.length == 128, "kept for when it comes back")
            }
        }

        private static let all = Array(Int32(0)..<320)[...]

        @Test func theBudgetHolds() throws {
            let blockBytes = 2 * 2 * 64 * 64 * 4
            try withEngine(budget: 4 * blockBytes + 100) { engine in
                #expect(engine.cacheBytes == 4 * blockBytes)
                let text = Array(Self.tokens.prefix(130))
                guard
                    case .never(let refusal, _) = engine.admit(
                        SequenceCache(ceiling: 257), tokens: text, lookahead: 0, cacheable: 0, beside: [])
                else {
                    Issue.record("five blocks of four")
                    return
                }
                #expect(refusal.kind == .resources)
                _ = try #require(MLXSequence(engine, text, ceiling: 192))
                #expect(
                    engine.admit(
                        SequenceCache(ceiling: 192), tokens: text, lookahead: 0, cacheable: 0, beside: [])
                        == .wait(.room))
            }
        }
    }
}
