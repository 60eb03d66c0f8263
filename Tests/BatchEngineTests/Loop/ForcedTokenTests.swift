import TestSupport
import Testing

@testable import BatchEngine

/// Tokens that a constraint makes certain go into one step together, and change nothing but the number of steps.
@Suite struct ForcedTokenTests {
    private func request(
        _ constraint: any Constraint, prompt: [Int32] = [1, 2, 3], max maxTokens: Int = 100,
        stream: UInt64 = 0
    ) -> Request {
        var request = Request.test(prompt, max: maxTokens, stream: stream)
        request.generation.form = { _ in constraint }
        return request
    }

    private func run(
        _ requests: [Request], _ engine: BlockEngine = BlockEngine(), workers: Int = 1, chunk: Int = 16,
        lookahead: Int = 64
    ) -> (source: TestSource, preemptions: Int) {
        let source = TestSource(requests, workers: workers)
        let scheduler = Scheduler(workers: workers, prefillChunk: chunk, lookahead: lookahead)
        return (source, source.run(scheduler, engine))
    }

    /// Random workloads, most in caches that are too small for them.
    @Test func together() {
        var random = FixedRandom(31)
        var (preemptions, steps, stepsOneByOne) = (0, 0, 0)
        var reasons: Set<FinishReason> = []
        for round in 0..<40 {
            var requests = (0..<25).map { number in
                let constraint = Stretches(
                    free: Int.random(in: 0...12, using: &random), opening: [0, 0, 5][number % 3],
                    longest: Int.random(in: 0...20, using: &random),
                    limit: number % 4 == 0 ? 20 : .max, vocabularySize: 1000)
                let prompt = (0..<Int.random(in: 1...30, using: &random)).map { Int32($0 % 7 + 1) }
                return request(
                    constraint, prompt: prompt, max: Int.random(in: 1...90, using: &random),
                    stream: UInt64(number))
            }
            for number in [3, 7] { requests[number].generation.stops = StopSet(["3 1", "77", "9 4"]) }
            requests[11].generation.form = nil
            var oneByOne = requests
            for number in requests.indices {
                guard let form = requests[number].generation.form else { continue }
                oneByOne[number].generation.form = { Unforced(form($0)) }
            }
            let engine = BlockEngine(tightFor: requests, &random)
            let (source, gaveWay) = run(
                requests, engine, workers: Int.random(in: 1...12, using: &random),
                chunk: Int.random(in: 1...50, using: &random), lookahead: [0, 1, 10, 64][round % 4])
            let plain = BlockEngine()
            let (expected, _) = run(oneByOne, plain, workers: 5)
            #expect(source.completions == expected.completions && source.text == expected.text)
            #expect(source.reasons == expected.reasons && source.tokens == expected.tokens)
            preemptions += gaveWay
            steps += engine.steps
            stepsOneByOne += plain.steps
            reasons.formUnion(source.reasons.values)
        }
        #expect(preemptions > 20 && steps * 5 < stepsOneByOne * 4, "\(steps) steps of \(stepsOneByOne)")
        #expect(reasons == [.stop, .length, .stopSequence])
    }

    /// What is certain at the beginning comes with the prompt, what is certain after a choice with the choice.
    @Test func stepsAreOfChoicesOnly() {
        let engine = BlockEngine()
        let constraint = Stretches(free: 3, opening: 4, longest: 300, vocabularySize: 1000)
        let (source, _) = run([request(constraint, max: 1000)], engine, chunk: 512)
        let count = source.completions[0].count
        #expect(engine.steps == 3 && count > 20 && source.reasons == [0: .stop])
        #expect(source.tokens == count && source.prefillRows == 3 + 4)
        // The last choice and what is certain after it need no step.
        #expect(source.decodeRows > 0 && source.decodeRows == engine.rows - 7)
        #expect(engine.rows < 3 + count)
    }

    @Test func whatIsCertainAltogetherNeedsNoStep() {
        let engine = BlockEngine()
        let requests = (0..<5).map { number in
            request(
                Stretches(free: number == 3 ? 2 : 0, opening: number, vocabularySize: 1000),
                stream: UInt64(number))
        }
        let (source, _) = run(requests, engine, workers: 2)
        #expect(source.completions.map(\.count).prefix(3) == [0, 1, 2] && source.completions[4].count == 4)
        #expect(engine.steps == 2 && Set(source.reasons.values) == [.stop])
        #expect(source.tokens == source.completions.reduce(0) { $0 + $1.count })
    }

    @Test func reasonsSayWhyItEnded() {
        func reason(_ constraint: Stretches, max: Int = 100, endOdds: UInt64 = .max) -> FinishReason? {
            let engine = BlockEngine()
            engine.endOdds = endOdds
            return run([request(constraint, max: max)], engine).source.reasons[0]
        }
        func constraint(_ free: Int, limit: Int = .max) -> Stretches {
            Stretches(free: free, longest: 0, limit: limit, vocabularySize: 1000)
        }
        #expect(reason(constraint(3)) == .stop, "complete")
        #expect(reason(constraint(3), max: 3) == .stop, "complete with the last token there is")
        #expect(reason(constraint(3, limit: 2)) == .length, "complete as the limit wanted it")
        #expect(reason(constraint(4), endOdds: 1) == .stop, "the model's end")
        #expect(reason(constraint(5, limit: 1), endOdds: 1) == .length, "the same, steered")
        #expect(reason(constraint(4), max: 2) == .length, "cut off")
    }

    /// A run may have been saved in the middle of a stretch.
    @Test func savedTokensGoOn() {
        let constraint = Stretches(free: 6, opening: 3, longest: 9, vocabularySize: 1000)
        let engine = BlockEngine()
        engine.endOdds = .max
        let whole = run([request(constraint)], engine).source
        let tokens = whole.completions[0]
        #expect(tokens.count > 15)
        for count in 1..<tokens.count {
            for forces in [true, false] {
                var again = request(forces ? constraint : Unforced(constraint))
                again.saved = SavedDecoding(tokens: Array(tokens[..<count]))
                let engine = BlockEngine()
                engine.endOdds = .max
                let source = TestSource([again], workers: 1)
                let loop = BatchLoop(engine: engine, workers: 1, prefillChunk: 16)
                loop.add(source)
                loop.run()
                #expect(source.completions[0] == tokens && source.text == whole.text)
                #expect(source.tokens == tokens.count - count && engine.faults.isEmpty)
            }
        }
    }

    /// Where log-probabilities are wanted every token is asked for.
    @Test func logprobsAreOfEachToken() {
        let constraint = Stretches(free: 4, opening: 3, longest: 9, vocabularySize: 1000)
        var asked = request(constraint)
        asked.generation.sampling.logprobs = 0
        let (engine, plain) = (BlockEngine(), BlockEngine())
        let (source, _) = run([asked], engine)
        #expect(source.completions == run([request(constraint)], plain).source.completions)
        #expect(engine.steps == source.completions[0].count && plain.steps < engine.steps)
    }
}
