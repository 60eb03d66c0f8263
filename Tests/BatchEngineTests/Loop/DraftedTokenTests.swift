import TestSupport
import Testing

@testable import BatchEngine

/// Tokens that are drafted ahead change nothing but the number of steps.
@Suite struct DraftedTokenTests {
    private func run(
        _ requests: [Request], _ speculation: Speculation, _ engine: BlockEngine, workers: Int = 5,
        chunk: Int = 50, lookahead: Int = 64
    ) -> (source: TestSource, preemptions: Int) {
        engine.period = 6
        let source = TestSource(requests, workers: workers)
        source.speculation = speculation
        let scheduler = Scheduler(workers: workers, prefillChunk: chunk, lookahead: lookahead)
        return (source, source.run(scheduler, engine))
    }

    /// Random workloads, most in caches that are too small for them.
    @Test func resultsAreTheSame() {
        var random = FixedRandom(77)
        var (preemptions, drafted, wrong, steps, plainSteps) = (0, 0, 0, 0, 0)
        var reasons: Set<FinishReason> = []
        for round in 0..<40 {
            var requests = (0..<25).map { number in
                let prompt = (0..<Int.random(in: 1...30, using: &random)).map { Int32($0 % 7 + 1) }
                return Request.test(
                    prompt, max: Int.random(in: 1...90, using: &random), stream: UInt64(number))
            }
            for number in [3, 7] { requests[number].generation.stops = StopSet(["3 1", "77", "9 4"]) }
            for number in [5, 11] {
                let form = Stretches(
                    free: 9, opening: 3, longest: 9, limit: number == 5 ? 20 : .max, vocabularySize: 1000)
                requests[number].generation.form = { _ in form }
            }
            requests[13].generation.form = { _ in Multiples(vocabularySize: 1000) }
            requests[15].generation.sampling.rules.repetitionPenalty = 1.3
            requests[17].generation.sampling.logprobs = 0
            let engine = BlockEngine(tightFor: requests, &random)
            let (source, gaveWay) = run(
                requests, .tokens(Int.random(in: 1...24, using: &random)), engine,
                workers: Int.random(in: 1...12, using: &random),
                chunk: Int.random(in: 1...50, using: &random), lookahead: [0, 1, 10, 64][round % 4])
            let plain = BlockEngine()
            let (expected, _) = run(requests, .off, plain)
            #expect(source.completions == expected.completions && source.text == expected.text)
            #expect(source.reasons == expected.reasons && source.tokens == expected.tokens)
            #expect(
                source.drafted == engine.drafted
                    && source.drafted - source.acceptedDrafts == engine.rejectedDrafts)
            #expect(plain.drafted == 0)
            preemptions += gaveWay
            (drafted, wrong) = (drafted + engine.drafted, wrong + engine.rejectedDrafts)
            (steps, plainSteps) = (steps + engine.steps, plainSteps + plain.steps)
            reasons.formUnion(source.reasons.values)
        }
        #expect(preemptions > 20 && drafted - wrong > 1000 && wrong > 1000, "\(wrong) of \(drafted) wrong")
        #expect(reasons == [.stop, .length, .stopSequence])
    }

    /// The engine is asked again only where a draft fails.
    @Test func stepsAreSaved() {
        let request = Request.test([1, 2, 3, 4, 5, 6], max: 600)
        let (drafting, plain) = (BlockEngine(), BlockEngine())
        (drafting.endOdds, plain.endOdds) = (.max, .max)
        let (source, _) = run([request], .tokens(8), drafting)
        let (expected, _) = run([request], .off, plain)
        #expect(source.completions == expected.completions && source.completions[0].count == 600)
        #expect(plain.steps == 600 && drafting.steps < 300, "\(drafting.steps)")
        #expect(source.tokens == 600 && source.decodeRows == drafting.rows - 6)
        #expect(source.acceptedDrafts == 600 - drafting.steps)
    }

    /// What one line has said helps the next one.
    @Test func answersHelpOneAnother() {
        let requests = (0..<4).map { _ in Request.test([1, 2, 3], max: 200, stream: 5) }
        func steps(_ requests: [Request]) -> Int {
            let engine = BlockEngine()
            engine.endOdds = .max
            let source = TestSource(requests, workers: 1)
            source.speculation = .tokens(16)
            _ = source.run(Scheduler(workers: 1, prefillChunk: 64), engine)
            #expect(source.completions.allSatisfy { $0.count == 200 })
            return engine.steps
        }
        let (first, all) = (steps([requests[0]]), steps(requests))
        #expect(first > 190 && all < first + 3 * 40, "\(first), \(all)")
    }

    /// Nobody gives way for a draft.
    @Test func draftsTakeNoRoomFromOthers() {
        let requests = (0..<6).map { Request.test([1, 2, Int32($0)], max: 30, stream: UInt64($0)) }
        func preemptions(_ speculation: Speculation) -> Int {
            let engine = BlockEngine(blocks: 30, blockLength: 2)
            engine.endOdds = .max
            return run(requests, speculation, engine, workers: 6, lookahead: 0).preemptions
        }
        #expect(preemptions(.tokens(4)) <= 2 * preemptions(.off))
    }
}
