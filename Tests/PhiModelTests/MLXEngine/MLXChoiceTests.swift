import BatchEngine
import Foundation
import TestSupport
import Testing

@testable import PhiModel

extension MLXTests {
    /// Rules on tokens are the CPU engine's own code, fed with MLX's logits: here it shows that they get there.
    @Suite struct Choices {
        private static let text: [Int32] = [1, 5, 9, 200, 5]

        private func choices(
            _ engine: MLXEngine, _ parameters: SamplingParameters, constraint: (any Constraint)? = nil,
            count: Int = 4
        ) throws -> [SampledToken] {
            var sequence = try #require(MLXSequence(engine, Self.text))
            defer { engine.release(sequence.cache) }
            var sampling = SamplingRequest(
                parameters: parameters, stream: 7, prompt: Self.text, constraint: constraint)
            var found: [SampledToken] = []
            while found.count < count {
                let due = sequence.tokens.count - sequence.length
                let input = sequence.input(due, asks: false, sampling: sampling)
                let choice = try #require(try engine.forward([input])[0].choice)
                #expect(choice.fault == nil && sampling.accept(choice.token))
                found.append(choice)
                sequence.tokens.append(choice.token)
            }
            return found
        }

        @Test func constraintsPenaltiesAndLogprobsHold() throws {
            try Batch.model.written { folder in
                let engine = try MLXEngine(folder: folder.path, options: EngineOptions(kvBudget: 8 << 20))
                let plain = try choices(engine, SamplingParameters(logprobs: 3))
                let logprobs = try MLXSequence.logprobs(engine, Self.text)
                let best = try #require(logprobs.indices.max { logprobs[$0] < logprobs[$1] })
                #expect(plain[0].token == Int32(best) && plain[0].top.count == 3)
                #expect(abs((plain[0].logprob ?? 1) - logprobs[best]) < 1e-4)
                #expect(plain[0].top[0].id == plain[0].token)

                let banned = LogitRules(bias: [Int32(best): -100])
                #expect(try choices(engine, SamplingParameters(rules: banned))[0].token == plain[0].top[1].id)
                let repeated = LogitRules(frequencyPenalty: -2)
                #expect(
                    Set(try choices(engine, SamplingParameters(rules: repeated), count: 12).map(\.token))
                        .count
                        < 12)
                let steered = try choices(
                    engine, SamplingParameters(), constraint: Multiples(vocabularySize: 320))
                for (choice, divisor) in zip(steered, [Int32(2), 3, 5, 7]) {
                    #expect(choice.token % divisor == 0)
                }
                let drawn = SamplingParameters(temperature: 1, topP: 0.9)
                #expect(try choices(engine, drawn).map(\.token) == choices(engine, drawn).map(\.token))
            }
        }

        /// The CPU engine rounds to 8 bits, so that the two are near each other, and far from the model without adapter.
        @Test func anAdapterChangesLogitsAsOnTheCPU() throws {
            let model = SyntheticCheckpoint(name: "adapter-base", layers: 1, bits: 0, floats: .f32)
            try withTemporaryFolder { folder in
                let adapter = folder.appending(path: "adapter")
                try model.write(to: folder)
                try TestAdapter(alpha: 24).write(
                    [
                        ("model.layers.0.mlp.down_proj", model.hidden, model.intermediate),
                        ("model.layers.0.self_attn.o_proj", model.hidden, model.hidden),
                    ], to: adapter)
                var options = EngineOptions(threads: 1, kvBudget: 8 << 20, kvPrecision: .float16)
                let plain = try MLXSequence.logprobs(
                    MLXEngine(folder: folder.path, options: options), Self.text)
                options.adapter = adapter.path
                let mine = try MLXSequence.logprobs(
                    MLXEngine(folder: folder.path, options: options), Self.text)
                let other = try MLXSequence.logprobs(
                    PhiEngine(folder: folder.path, options: options), Self.text)
                #expect(distance(mine, other) < 0.01, "floats are not rounded to 8 bits there")
                #expect(distance(mine, plain) > 0.1)
            }
        }
    }
}
