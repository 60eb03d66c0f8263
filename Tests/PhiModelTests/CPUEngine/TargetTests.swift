import BatchEngine
import TestSupport
import Testing

@testable import PhiModel

/// Log-probabilities of given tokens are, to the last bit, those that a generation reports of the tokens it chooses:
/// however rows are cut into steps, whatever else is in them, with any number of threads.
@Suite struct TargetTests {
    static let names = [
        "base", "phi-4-mini-heads", "sliding-window", "phi-tiny-moe-20", "phi-3-small", "phi-4-flash",
    ]

    private struct Sequence {
        var prompt: [Int32]
        var tokens: [Int32] = []
        var logprobs: [Float] = []
    }

    /// More rows than a piece of logits has; some share more than a block at the beginning.
    private static let prompts: [[Int32]] = [
        [7], (0..<40).map { Int32($0 * 29 % 311 + 3) }, (0..<53).map { Int32($0 * 29 % 311 + 3) },
        (0..<19).map { Int32($0 * 7 % 300) },
    ]
    private static let count = 45

    private func generated(_ engine: PhiEngine, _ number: Int) throws -> Sequence {
        var sequence = Sequence(prompt: Self.prompts[number])
        let cache = try #require(
            try engine.begin(prompt: sequence.prompt, maxTokens: Self.count))
        defer { engine.release(cache) }
        var rows = sequence.prompt[cache.length...]
        for position in 0..<Self.count {
            let request = SamplingRequest(
                parameters: SamplingParameters(temperature: 1.5, logprobs: 0), stream: UInt64(number),
                position: position)
            let input = PassInput(cache, rows, sampling: request)
            let choice = try #require(try engine.forward([input])[0].choice)
            sequence.tokens.append(choice.token)
            sequence.logprobs.append(try #require(choice.logprob))
            rows = [choice.token]
        }
        return sequence
    }

    /// All sequences at once, as far as they don't wait for a common beginning.
    private func scored(_ engine: PhiEngine, _ sequences: [Sequence], chunk: Int) throws -> [[Float]] {
        var logprobs = [[Float]](repeating: [], count: sequences.count)
        var waiting = Array(sequences.indices)
        var running: [(number: Int, cache: SequenceCache)] = []
        while !waiting.isEmpty || !running.isEmpty {
            for number in waiting {
                let all = sequences[number].prompt + sequences[number].tokens.dropLast()
                let begun = try engine.begin(
                    prompt: all, maxTokens: 1, cacheable: sequences[number].prompt.count - 1)
                guard let cache = begun else { continue }
                #expect(cache.length < sequences[number].prompt.count)
                waiting.removeAll { $0 == number }
                running.append((number, cache))
            }
            let inputs = running.map { number, cache in
                let position = cache.length
                let (prompt, tokens) = (sequences[number].prompt, sequences[number].tokens)
                let rows = (prompt + tokens.dropLast())[position...].prefix(chunk)
                let targets = max(0, rows.endIndex - max(position, prompt.count - 1))
                return PassInput(
                    cache, rows, targets: tokens[logprobs[number].count...].prefix(targets))
            }
            let answers = try engine.forward(inputs)
            for (place, (input, answer)) in zip(inputs, answers).enumerated().reversed() {
                let number = running[place].number
                #expect(answer.choice == nil && answer.logprobs.count == input.targets.count)
                logprobs[number] += answer.logprobs
                if logprobs[number].count == Self.count {
                    engine.release(running[place].cache)
                    running.remove(at: place)
                }
            }
        }
        return logprobs
    }

    @Test(arguments: names) func bitsAreThoseOfAGeneration(name: String) throws {
        try SyntheticCheckpoint.named(name).written { folder in
            func engine(_ kernels: Kernels, threads: Int) throws -> PhiEngine {
                try PhiEngine(
                    folder: folder.path,
                    options: EngineOptions(threads: threads, kvBudget: 64 << 20, kernels: kernels.name))
            }
            let best = try engine(Kernels.available[0], threads: 1)
            let sequences = try Self.prompts.indices.map { try generated(best, $0) }
            #expect(Set(sequences.flatMap(\.logprobs)).count > 100, "the comparison must mean something")
            let expected = sequences.map { $0.logprobs.map(\.bitPattern) }
            func check(_ found: [[Float]], _ comment: Comment) {
                #expect(found.map { $0.map(\.bitPattern) } == expected, comment)
            }
            // What is in the cache by now is not taken for what is asked.
            check(try scored(best, sequences, chunk: 1000), "at once")
            for kernels in Kernels.available {
                check(try scored(engine(kernels, threads: 3), sequences, chunk: 7), "sevens, \(kernels.name)")
            }
            let two = try engine(Kernels.available[0], threads: 2)
            check(try scored(two, sequences.reversed(), chunk: 64).reversed(), "in another order")
            // To the precision of Floats, what a measurement gets.
            for sequence in sequences {
                let exact = try two.logProbabilities(
                    of: sequence.prompt + sequence.tokens, from: sequence.prompt.count)
                #expect(exact.map { Float($0) } == sequence.logprobs)
            }
        }
    }

    /// Both may be asked about one input.
    @Test func aTokenIsChosenBesideThem() throws {
        try SyntheticCheckpoint.named("base").written { folder in
            let engine = try PhiEngine(folder: folder.path, options: EngineOptions(kvBudget: 64 << 20))
            let sequence = try generated(engine, 3)
            let all = sequence.prompt + sequence.tokens
            let cache = try #require(try engine.begin(prompt: all, maxTokens: 1, cacheable: 0))
            defer { engine.release(cache) }
            let request = SamplingRequest(parameters: SamplingParameters(logprobs: 1), stream: 0)
            // The last target comes after the last row.
            let answer = try engine.forward(
                [
                    PassInput(
                        cache, all[cache.length...], sampling: request,
                        targets: sequence.tokens[1...] + [5])
                ])[0]
            #expect(Array(answer.logprobs.dropLast()) == Array(sequence.logprobs[1...]))
            let choice = try #require(answer.choice)
            #expect(choice.token == choice.top[0].id && choice.logprob == choice.top[0].logprob)
            #expect((answer.logprobs.last ?? 0) <= choice.top[0].logprob)
        }
    }
}
