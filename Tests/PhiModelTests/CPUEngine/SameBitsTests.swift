import BatchEngine
import Foundation
import TestSupport
import Testing

@testable import PhiModel

/// A sequence's logits depend on its own tokens alone: not on the kernels, the threads, the rows beside it,
/// how its prompt was cut into chunks, or whether a prefix was in the cache.
@Suite struct SameBitsTests {
    private static let names = [
        "base", "bits8-group32-bf16-tied", "bits3", "phi-3-heads", "phi-4-mini-heads", "longrope",
        "all-plain-f16", "mixed-bits", "sliding-window", "phi-2-heads", "phi-2-mixed-bf16",
        "phi-moe-25", "phi-moe-mixed-bf16-1", "phi-moe-all-plain-f32-1", "llama-rope3-tied",
        "llama-wide-heads-mixed-bf16", "qwen2-windows", "qwen3-wide-heads", "qwen3-plain-f32",
        "phi-1-heads", "phi-4-reasoning-heads", "phi-4-multimodal", "phi-3.5-vision",
        "phi-mini-moe-28", "phi-tiny-moe-20", "phi-3-small", "phi-3-small-long-bf16",
        "phi-4-flash", "phi-4-flash-mixed-bf16", "phi-4-flash-plain-f32",
    ]

    /// A prompt and the tokens that follow it, whatever the model would choose.
    private struct Sequence {
        var id: Int
        var prompt: [Int32]
        var completion: [Int32]
    }

    /// The first two share their first 128 tokens.
    private static let sequences: [Sequence] = [133, 140, 1, 34, 70].enumerated().map { id, length in
        let seed = id == 0 ? 1 : id
        let tokens = (0..<length + 5).map { place in
            Int32(((place < 128 ? 0 : place - 127) + place * 37 + seed * 11) % 317 + 3)
        }
        let shared = id < 2 ? (0..<128).map { Int32($0 * 29 % 311 + 3) } + tokens[128...] : tokens
        return Sequence(id: id, prompt: Array(shared[..<length]), completion: Array(shared[length...]))
    }

    /// One row's outcome, sharp enough to stand for all of its logits.
    private typealias Row = [UInt32]

    private func row(_ choice: SampledToken) -> Row {
        [UInt32(choice.token), choice.logprob?.bitPattern ?? 0]
            + choice.top.flatMap { [UInt32($0.id), $0.logprob.bitPattern] }
    }

    /// Nil if the engine says later.
    private func admit(_ engine: PhiEngine, _ sequence: Sequence) throws -> SequenceCache? {
        try engine.begin(prompt: sequence.prompt, maxTokens: sequence.completion.count)
    }

    private func request(_ engine: PhiEngine, _ sequence: Sequence, _ position: Int) -> SamplingRequest {
        SamplingRequest(
            parameters: SamplingParameters(temperature: 0.9, logprobs: engine.limits.vocabularySize),
            stream: UInt64(sequence.id + 1), position: position)
    }

    /// The rows after the prompt and each token of the completion, all sequences advancing together;
    /// each enters two steps after the one before.
    private func together(_ engine: PhiEngine, _ sequences: [Sequence], chunk: Int) throws -> [[Row]] {
        var rows = [[Row]](repeating: [], count: sequences.count)
        var unsent: [Int: (cache: SequenceCache, tokens: ArraySlice<Int32>)] = [:]
        var (step, entered) = (0, 0)
        while entered < sequences.count || !unsent.isEmpty {
            // A prompt whose beginning another sequence is computing is put off until it is there.
            if step >= 2 * entered, entered < sequences.count,
                let cache = try admit(engine, sequences[entered])
            {
                unsent[entered] = (cache, sequences[entered].prompt[cache.length...])
                entered += 1
            }
            try #require(!unsent.isEmpty, "an idle engine has room")
            var inputs: [PassInput] = []
            let active = unsent.keys.sorted()
            for index in active {
                guard let (cache, tokens) = unsent[index] else { continue }
                let isWhole = tokens.count <= chunk
                inputs.append(
                    PassInput(
                        cache, tokens.prefix(chunk),
                        sampling: isWhole
                            ? request(engine, sequences[index], rows[index].count) : nil))
                unsent[index]?.tokens = tokens.dropFirst(chunk)
            }
            let choices = try engine.forward(inputs).map(\.choice)
            for (index, choice) in zip(active, choices) {
                guard let choice, let (cache, _) = unsent[index] else { continue }
                rows[index].append(row(choice))
                let place = rows[index].count - 1
                if place < sequences[index].completion.count {
                    unsent[index] = (cache, sequences[index].completion[place...place])
                } else {
                    engine.release(cache)
                    unsent[index] = nil
                }
            }
            step += 1
        }
        return rows
    }

    /// The same rows, each computed from nothing in one step: prompt and completion as one long prompt.
    private func fromNothing(_ engine: PhiEngine, _ sequence: Sequence) throws -> [Row] {
        try (0...sequence.completion.count).map { place in
            let cache = try #require(try admit(engine, sequence))
            defer { engine.release(cache) }
            let tokens = sequence.prompt + sequence.completion.prefix(place)
            let input = PassInput(
                cache, tokens[cache.length...], sampling: request(engine, sequence, place))
            return row(try #require(try engine.forward([input])[0].choice))
        }
    }

    @Test(arguments: names) func logitsAreTheSame(name: String) throws {
        let geometry = try #require(LogitsTests.geometries.first { $0.name == name })
        let sequences = Self.sequences
        try geometry.written { folder in
            func engine(_ kernels: Kernels, threads: Int) throws -> PhiEngine {
                try PhiEngine(
                    folder: folder.path,
                    options: EngineOptions(threads: threads, kvBudget: 64 << 20, kernels: kernels.name))
            }
            let best = Kernels.available[0]
            let expected = try sequences.map {
                try together(engine(best, threads: 1), [$0], chunk: 1000)[0]
            }
            #expect(expected.allSatisfy { $0.count == 6 } && Set(expected.flatMap { $0 }).count == 30)
            let bits = try engine(best, threads: 1).logits(sequences[0].prompt).map(\.bitPattern)
            for kernels in Kernels.available {
                let one = try engine(kernels, threads: 1)
                #expect(
                    try one.logits(sequences[0].prompt).map(\.bitPattern) == bits, "logits, \(kernels.name)")
                #expect(
                    try together(one, sequences, chunk: 7) == expected,
                    "together in chunks of 7, \(kernels.name)")
                #expect(
                    try together(engine(kernels, threads: 3), sequences, chunk: 64) == expected,
                    "3 threads in chunks of 64, \(kernels.name)")
            }
            let two = try engine(best, threads: 2)
            for (sequence, rows) in zip(sequences, expected) {
                #expect(try fromNothing(two, sequence) == rows, "prompt and completion at once")
            }
            #expect(
                try together(two, Array(sequences.reversed()), chunk: 3) == expected.reversed(),
                "in another order")
        }
    }
}
