import BatchEngine
import BatchPipeline
import PhiModel

/// Runs of a model on random token ids.
struct Bench {
    /// One run.
    struct Sample {
        var tokens: Int
        var times: ComputeTimes
        var steps: [Step]
        /// Bytes of keys and values read by attention; 0 in prefill.
        var attentionBytes = 0
        /// The machine's limits: the higher of before and after.
        var limits = MachineLimits()

        var seconds: Double { steps.reduce(0) { $0 + $1.seconds } }
        /// Its share of the measured memory bandwidth, 0 ... 1; nil in prefill.
        var attentionOfMemory: Double? {
            if attentionBytes == 0 { return nil }
            let memory = steps.reduce(0) { $0 + $1.memory } / Double(steps.count)
            return Double(attentionBytes) / times.attention / memory
        }
        var tokensPerSecond: Double { Double(tokens) / seconds }
    }

    /// One forward pass.
    struct Step {
        var seconds: Double
        /// Bytes of weights and, in generation, of the KV cache that are read.
        var bytes: Int
        /// Average memory bandwidth before and after the step, in bytes a second.
        var memory = 0.0

        var ofMemory: Double { Double(bytes) / seconds / memory }
    }

    let engine: any ModelEngine
    let probe: LimitProbe

    /// Returns a prompt that shares no prefix with another.
    private func randomPrompt(_ count: Int) -> [Int32] {
        (0..<count).map { _ in Int32.random(in: 0..<Int32(engine.limits.vocabularySize)) }
    }

    private func admit(prompt: Int, tokens: Int) throws -> (SequenceCache, [Int32]) {
        let (cache, ids) = (SequenceCache(ceiling: prompt + tokens), randomPrompt(prompt))
        guard
            case .ready = engine.admit(cache, tokens: ids, lookahead: 0, cacheable: 0, beside: []),
            engine.extend(cache, to: cache.ceiling)
        else { throw UserError(.resources, "the KV cache is too small for this batch and length") }
        return (cache, ids)
    }

    /// The most tokens of a prompt in one step.
    private static let chunk = EngineSettings().prefillChunk
    private static let greedy = SamplingRequest(parameters: SamplingParameters(), stream: 0, position: 0)

    func run(_ test: BenchTest) throws -> Sample {
        test.isPrefill
            ? try prefill(test.prompt)
            : try generate(batch: test.requests, prompt: test.prompt, tokens: test.generated)
    }

    /// Does in advance what only the first steps of a long run cost: new memory, and one longest step of a prompt.
    func warmUp(_ tests: [BenchTest], repeats: Int) throws {
        let runs = tests.flatMap {
            Array(repeating: $0.prompt + $0.generated + 1, count: $0.requests * repeats)
        }
        let longest = min(tests.map(\.prompt).max() ?? 1, Self.chunk)
        engine.warmUp(lengths: runs + [longest + 1])
        _ = try prefill(longest)
    }

    private func prefill(_ count: Int) throws -> Sample {
        let (cache, ids) = try admit(prompt: count, tokens: 1)
        defer { engine.release(cache, keeping: nil) }
        let before = engine.times
        let steps = try read(ids, cache).steps
        return Sample(tokens: count, times: engine.times - before, steps: steps)
    }

    /// Prefills a prompt step by step, like jobs.
    /// - Returns: the token after it, and the steps.
    private func read(_ prompt: [Int32], _ cache: SequenceCache) throws -> (next: Int32, steps: [Step]) {
        var (steps, answer): ([Step], SampledToken?) = ([], nil)
        for first in stride(from: 0, to: prompt.count, by: Self.chunk) {
            let tokens = prompt[first...].prefix(Self.chunk)
            let (start, before) = (ContinuousClock.now, engine.times)
            let input = PassInput(
                cache, tokens, sampling: tokens.endIndex == prompt.count ? Self.greedy : nil)
            answer = try engine.forward([input])[0].choice
            steps.append(
                Step(
                    seconds: (ContinuousClock.now - start).seconds,
                    bytes: weightBytes(since: before)))
        }
        return (try Self.token(of: answer), steps)
    }

    /// Bytes of weights read; those of a whole pass if the engine doesn't count.
    private func weightBytes(since before: ComputeTimes) -> Int {
        let bytes = (engine.times - before).weightBytes
        return bytes > 0 ? bytes : engine.weightBytes
    }

    private func generate(batch: Int, prompt: Int, tokens: Int) throws -> Sample {
        var caches: [SequenceCache] = []
        var next: [Int32] = []
        defer { for cache in caches { engine.release(cache, keeping: nil) } }
        for _ in 0..<batch {
            let (cache, ids) = try admit(prompt: prompt, tokens: tokens + 1)
            caches.append(cache)
            next.append(try read(ids, cache).next)
        }
        let before = engine.times
        // The bandwidth of shared memory changes within seconds, so it is measured between the steps.
        var readings = [probe.read()]
        var steps: [Step] = []
        var attentionBytes = 0
        for number in 0..<tokens {
            let (start, sofar) = (ContinuousClock.now, engine.times)
            let inputs = zip(caches, next).map { PassInput($0, [$1], sampling: Self.greedy) }
            next = try engine.forward(inputs).map { try Self.token(of: $0.choice) }
            let seconds = (ContinuousClock.now - start).seconds
            readings.append(probe.read())
            let keysAndValues = batch * (prompt + number + 1) * engine.kvBytesPerToken
            attentionBytes += keysAndValues
            steps.append(
                Step(
                    seconds: seconds,
                    bytes: weightBytes(since: sofar) + keysAndValues,
                    memory: (readings[number] + readings[number + 1]) / 2))
        }
        return Sample(
            tokens: batch * tokens, times: engine.times - before, steps: steps, attentionBytes: attentionBytes
        )
    }

    private static func token(of choice: SampledToken?) throws -> Int32 {
        guard let choice, choice.fault == nil else {
            throw UserError(.malformed, "the model's logits are not finite: its weights are damaged.")
        }
        return choice.token
    }
}
