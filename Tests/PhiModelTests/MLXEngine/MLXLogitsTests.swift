import BatchEngine
import Foundation
import TestSupport
import Testing

@testable import PhiModel

extension MLXTests {
    /// Logits beside Hugging Face's in float32, which Fixtures/logits.json has: in float32 they agree to their last
    /// digits, for which a sum of many products has some noise. In the checkpoint's own precision, which is what GPUs
    /// compute in, they agree as far as 11 or 8 bits of every intermediate result allow.
    @Suite struct Logits {
        @Test(arguments: LogitsTests.geometries.indices) func matchExactArithmetic(index: Int) throws {
            let geometry = LogitsTests.geometries[index]
            if geometry.model == .phi4flash { return try expectRefusal(geometry) }
            try check(geometry, inFloat32: true, tolerance: 2e-4)
        }

        private func expectRefusal(_ geometry: SyntheticCheckpoint) throws {
            try geometry.written { folder in
                // It isn't looked for.
                try FileManager.default.removeItem(at: folder.appending(path: "model.safetensors"))
                let error = #expect(throws: UserError.self) { try MLXEngine(folder: folder.path) }
                #expect(error?.kind == .unsupported && error?.message.contains("engine: cpu") == true)
            }
        }

        @Test(arguments: [
            ("base", Float(0.06)), ("sliding-window", 0.06), ("longrope", 0.06), ("phi-4-mini-heads", 0.08),
            ("phi-2-heads", 0.06), ("phi-moe-25", 0.06), ("phi-moe-mixed-bf16-1", 0.4),
            ("llama-rope3-tied", 0.06), ("qwen2-windows", 0.06), ("qwen3-wide-heads", 0.06),
        ])
        func matchInTheirOwnPrecision(name: String, tolerance: Float) throws {
            let geometry = try #require(LogitsTests.geometries.first { $0.name == name })
            try check(geometry, inFloat32: false, tolerance: tolerance)
        }

        /// The embedded model: in one step, each token of some greedy answers as a guess. By how much it leads is the
        /// difference of two logits.
        @Test(.enabled(if: DemoModel.folder != nil, DemoModel.missing)) func ofTheDemoModelMatch() throws {
            let engine = try MLXEngine(folder: try #require(DemoModel.folder))
            for (number, answer) in try DemoTextTests.reference().answers.enumerated()
            where [1, 5, 6].contains(number) {
                let sequence = try #require(
                    MLXSequence(engine, answer.prompt + answer.greedy.dropLast()))
                defer { engine.release(sequence.cache) }
                var input = sequence.input(sequence.tokens.count, asks: false)
                input.samplings = SmallArray(
                    answer.greedy.indices.map { position in
                        SamplingRequest(
                            parameters: SamplingParameters(logprobs: 2), stream: 0, position: position)
                    })
                let choices = try engine.forward([input])[0].choices
                #expect(choices.map(\.token) == answer.greedy)
                let leads = choices.map { $0.top[0].logprob - $0.top[1].logprob }
                #expect(distance(leads, answer.gaps) < 2e-3, "answer \(number)")
            }
        }

        private func check(_ geometry: SyntheticCheckpoint, inFloat32: Bool, tolerance: Float) throws {
            let goldens = try JSONDecoder().decode(
                [LogitsTests.Golden].self, from: Data(contentsOf: LogitsTests.fixture))
            let golden = try #require(goldens.first { $0.name == geometry.name })
            try geometry.written { folder in
                let engine = try MLXEngine(
                    folder: folder.path, options: EngineOptions(kvBudget: 8 << 20), inFloat32: inFloat32)
                for prompt in golden.prompts {
                    let most = prompt.logits.max() ?? 0
                    let sum = prompt.logits.reduce(0.0) { $0 + exp(Double($1 - most)) }
                    let expected = prompt.logits.map { Float(Double($0 - most) - log(sum)) }
                    let logprobs = try MLXSequence.logprobs(
                        engine, prompt.ids, ceiling: prompt.ids.count + 1)
                    let distance = distance(logprobs, expected)
                    #expect(distance < tolerance, "\(geometry.name), \(prompt.ids.count) tokens")
                }
            }
        }
    }
}
