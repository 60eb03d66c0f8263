import PhiModel

/// Runs of a model on random token ids.
struct Bench {
    /// One run.
    struct Sample {
        var tokens: Int
        var seconds: Double
        var times: ComputeTimes
        /// Bytes of weights and, in generation, of the KV cache that had to be read.
        var bytes: Int
        /// The machine's: the highest of before and after; in generation, for memory, the mean of between the
        /// steps.
        var limits = MachineLimits()

        var tokensPerSecond: Double { Double(tokens) / seconds }
    }

    let engine: PhiEngine
    let probe: LimitProbe
    /// Steps from one reading of memory to the next.
    private static let stepsPerReading = 8

    /// A prompt that no other one shares a beginning with.
    private func randomPrompt(_ count: Int) -> [Int32] {
        (0..<count).map { _ in Int32.random(in: 0..<Int32(engine.configuration.vocabularySize)) }
    }

    private func admit(prompt: Int, tokens: Int) throws -> (SequenceID, [Int32]) {
        let ids = randomPrompt(prompt)
        guard case .admitted(let sequence, _) = try engine.admit(prompt: ids, maxTokens: tokens) else {
            throw ModelError(.resources, "the KV cache is too small for this batch and length")
        }
        return (sequence, ids)
    }

    private static let greedy = SamplingRequest(parameters: SamplingParameters(), stream: 0, position: 0)

    func run(_ test: BenchTest) throws -> Sample {
        test.isPrefill
            ? try prefill(test.prompt)
            : try generate(batch: test.requests, prompt: test.prompt, tokens: test.generated)
    }

    /// What only the first steps of a long run pay: memory that is new, and the longest prompt once.
    func warmUp(_ tests: [BenchTest], repeats: Int) throws {
        let runs = tests.flatMap {
            Array(repeating: $0.prompt + $0.generated + 1, count: $0.requests * repeats)
        }
        let longest = tests.map(\.prompt).max() ?? 1
        engine.warmUp(lengths: runs + [longest + 1])
        _ = try prefill(longest)
    }

    private func prefill(_ count: Int) throws -> Sample {
        let (sequence, ids) = try admit(prompt: count, tokens: 1)
        defer { engine.release(sequence) }
        let (start, before) = (ContinuousClock.now, engine.times)
        _ = try engine.step([StepInput(sequence: sequence, tokens: ids[...], sampling: Self.greedy)])
        return Sample(
            tokens: count, seconds: (ContinuousClock.now - start).seconds, times: engine.times - before,
            bytes: engine.weightBytes)
    }

    private func generate(batch: Int, prompt: Int, tokens: Int) throws -> Sample {
        var sequences: [SequenceID] = []
        var next: [Int32] = []
        defer { for sequence in sequences { engine.release(sequence) } }
        for _ in 0..<batch {
            let (sequence, ids) = try admit(prompt: prompt, tokens: tokens + 1)
            sequences.append(sequence)
            let choices = try engine.step(
                [StepInput(sequence: sequence, tokens: ids[...], sampling: Self.greedy)])
            next.append(choices[0]?.token ?? 0)
        }
        let before = engine.times
        // Memory that is shared with others gives twice as much a second later: it is read in turn with the steps.
        var (reading, seconds) = (probe.read(), 0.0)
        for number in 0..<tokens {
            let start = ContinuousClock.now
            let inputs = zip(sequences, next).map {
                StepInput(sequence: $0, tokens: [$1], sampling: Self.greedy)
            }
            next = try engine.step(inputs).map { $0?.token ?? 0 }
            seconds += (ContinuousClock.now - start).seconds
            if (number + 1) % Self.stepsPerReading == 0 || number + 1 == tokens { reading += probe.read() }
        }
        var sample = Sample(
            tokens: batch * tokens, seconds: seconds, times: engine.times - before,
            bytes: tokens * (engine.weightBytes + batch * (prompt + tokens / 2) * engine.kvBytesPerToken))
        sample.limits.bytesPerSecond = reading.perSecond
        return sample
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
