import TestSupport
import Testing

@testable import BatchEngine

@Suite struct BatchLoopTests {
    /// Prompts of many lengths, some with the same beginnings.
    private func requests(_ count: Int, longest: Int, max: Int, _ random: inout FixedRandom) -> [Request] {
        (0..<count).map { number in
            let shared = Int.random(in: 0...1, using: &random) == 0 ? 0 : longest / 2
            let own = Int.random(in: 1...longest / 2, using: &random)
            let prompt =
                (0..<shared).map { Int32($0 % 7 + 1) }
                + (0..<own).map { _ in Int32.random(in: 1..<1000, using: &random) }
            return .test(prompt, max: Int.random(in: 1...max, using: &random), stream: UInt64(number))
        }
    }

    private func run(
        _ sources: [TestSource], _ engine: BlockEngine, workers: Int, chunk: Int = 16, lookahead: Int = 64
    ) -> BatchLoop {
        let scheduler = Scheduler(workers: workers, prefillChunk: chunk, lookahead: lookahead)
        let loop = BatchLoop(scheduler: scheduler) { engine }
        for source in sources { loop.add(source) }
        loop.run()
        #expect(engine.faults.isEmpty, "\(engine.faults.prefix(3))")
        #expect(engine.isEmpty, "every block is given back")
        return loop
    }

    private func alone(_ requests: [Request]) -> [[Int32]] {
        requests.map { request in
            let source = TestSource([request], workers: 1)
            _ = run([source], BlockEngine(), workers: 1, chunk: 1000)
            return source.completions[0]
        }
    }

    /// Random workloads in caches that are too small for them: everything finishes, with the tokens that it
    /// gets alone.
    @Test func whoeverGivesWayGetsTheSameTokens() {
        var random = FixedRandom(5)
        var preemptions = 0
        for round in 0..<60 {
            let blockLength = Int.random(in: 1...6, using: &random)
            let requests = requests(25, longest: 40, max: 60, &random)
            let expected = round < 12 ? alone(requests) : nil
            let longest = requests.map { $0.prompt.count + $0.kind.maxTokens }.max() ?? 0
            let capacity = (longest + blockLength - 1) / blockLength + Int.random(in: 0...30, using: &random)
            let engine = BlockEngine(blocks: capacity, blockLength: blockLength)
            let source = TestSource(requests, workers: Int.random(in: 2...12, using: &random))
            let loop = run(
                [source], engine, workers: 12, chunk: Int.random(in: 1...50, using: &random),
                lookahead: [0, 1, 10, 64][round % 4])
            preemptions += loop.preemptions
            #expect(source.isComplete && source.results.count == 25 && source.refused.isEmpty)
            if let expected { #expect(source.completions == expected) }
        }
        #expect(preemptions > 100)
    }

    /// The oldest never waits for ever: however many come after it, it has begun, and ended, before what came
    /// long after it.
    @Test func nobodyIsOvertakenForEver() {
        var random = FixedRandom(9)
        var requests = (0..<400).map { number in
            Request.test([Int32.random(in: 1..<1000, using: &random)], max: 30, stream: UInt64(number))
        }
        // A long one among many short ones, and two that share a beginning.
        requests[20] = .test((0..<100).map { $0 + 1 }, max: 100, stream: 1000)
        requests[21] = .test((0..<100).map { $0 + 1 } + [7], max: 10, stream: 1001)
        let engine = BlockEngine(blocks: 60, blockLength: 4)
        let source = TestSource(requests, workers: 8)
        _ = run([source], engine, workers: 8, chunk: 4)
        #expect(source.isComplete && source.results.count == 400)
        for late in [20, 21] {
            let place = source.admitted.firstIndex(of: late) ?? .max
            #expect(place <= late + 4 * 8 + 8, "\(late) began as number \(place)")
        }
    }

    @Test func whoWaitsForAPrefixLetsOthersBegin() {
        let shared = (0..<80).map { Int32($0 + 1) }
        let requests: [Request] = [
            .test(shared + [5], max: 3, stream: 1), .test(shared + [6], max: 3, stream: 2),
            .test([9, 9], max: 3, stream: 3), .test([8, 8], max: 3, stream: 4),
        ]
        let engine = BlockEngine()
        let source = TestSource(requests, workers: 3)
        _ = run([source], engine, workers: 3, chunk: 8)
        #expect(source.admitted == [0, 2, 3, 1])
        #expect(engine.rows < 80 + 2 * 10, "the beginning is computed once")
        #expect(source.completions == alone(requests))
    }

    @Test func aHighCeilingTakesNoRoomThatIsNotUsed() {
        let requests = (0..<32).map { Request.test([Int32($0 + 1)], max: 4000, stream: UInt64($0)) }
        let engine = BlockEngine(blocks: 1001, blockLength: 4)
        engine.endOdds = 3
        let source = TestSource(requests, workers: 16)
        _ = run([source], engine, workers: 16)
        #expect(engine.largestBatch == 16, "the ceilings of two would not fit")
        #expect(source.results.count == 32)
    }

    @Test func whatCouldNotFitAloneIsRefused() {
        let engine = BlockEngine(blocks: 10, blockLength: 4)
        let source = TestSource([.test([1], max: 40), .test([2], max: 39), .test([3], max: 2)], workers: 2)
        _ = run([source], engine, workers: 2)
        #expect(source.refused == [0] && source.results.count == 2 && source.isComplete)
    }

    /// Two sources with settings of their own in one loop: each one's results are those it gets alone.
    @Test func sourcesShareALoop() {
        var random = FixedRandom(3)
        let first = requests(40, longest: 30, max: 40, &random)
        let second = requests(30, longest: 30, max: 40, &random)
        let (one, two) = (TestSource(first, workers: 3), TestSource(second, workers: 5))
        let engine = BlockEngine(blocks: 40, blockLength: 4)
        let loop = run([one, two], engine, workers: 8, chunk: 7, lookahead: 1)
        #expect(one.isComplete && two.isComplete && loop.preemptions > 0)
        #expect(one.completions == alone(first) && two.completions == alone(second))
        #expect(one.mostRunning <= 3 && two.mostRunning <= 5)
    }

    @Test func sourcesGiveRequestsInTurn() {
        func source(_ start: Int32, workers: Int) -> TestSource {
            TestSource((0..<4).map { .test([start + $0], max: 5) }, workers: workers)
        }
        let (one, two) = (source(10, workers: 1), source(20, workers: 3))
        let engine = BlockEngine()
        engine.endOdds = .max
        var running: [[Int]] = []
        engine.beforeStep = { _ in running.append([one.order.count, two.admitted.count, one.admitted.count]) }
        _ = run([one, two], engine, workers: 4)
        #expect(running.first == [0, 3, 1], "one worker does not hold up the other's three")
        #expect(one.admitted == [0, 1, 2, 3] && two.admitted == [0, 1, 2, 3])
    }

    @Test func anErrorOfOneSourceEndsThatOneOnly() {
        var random = FixedRandom(4)
        let first = requests(40, longest: 30, max: 40, &random)
        let second = requests(30, longest: 30, max: 40, &random)
        let (one, two) = (TestSource(first, workers: 3), TestSource(second, workers: 5))
        let problem = UserError(.io, "the disk is full")
        one.onFinish = { _ in if one.order.count == 7 { throw problem } }
        _ = run([one, two], BlockEngine(), workers: 8)
        #expect(one.error as? UserError == problem && !one.isComplete && one.order.count == 7)
        #expect(!one.live.isEmpty && one.live.count <= 6)
        #expect(two.isComplete && two.completions == alone(second))
    }

    @Test func aCancelledSourceGetsItsRequestsBack() {
        var random = FixedRandom(6)
        let first = requests(40, longest: 30, max: 40, &random)
        let second = requests(30, longest: 30, max: 40, &random)
        let (one, two) = (TestSource(first, workers: 3), TestSource(second, workers: 5))
        let engine = BlockEngine()
        engine.beforeStep = { if $0 == 25 { one.isCancelled = true } }
        _ = run([one, two], engine, workers: 8)
        #expect(!one.isComplete && one.error == nil && !one.live.isEmpty)
        // What is saved of them goes on where it stopped.
        let saved = one.live.map { sequence in
            var request = sequence.request
            request.saved = sequence.decoding.saved
            return request
        }
        #expect(saved.contains { $0.saved?.tokens.isEmpty == false })
        let rest = TestSource(saved, workers: 3)
        _ = run([rest], BlockEngine(), workers: 3)
        #expect(rest.completions == alone(one.live.map(\.request)))
        #expect(two.isComplete && two.completions == alone(second))
    }

    @Test func anErrorOfTheEngineIsToldToAll() {
        let (one, two) = (
            TestSource([.test([1], max: 40)], workers: 1), TestSource([.test([2], max: 40)], workers: 1)
        )
        let engine = BlockEngine()
        engine.endOdds = .max
        let problem = UserError(.io, "out of luck")
        engine.beforeStep = { if $0 == 5 { throw problem } }
        _ = run([one, two], engine, workers: 2)
        for source in [one, two] {
            #expect(source.error as? UserError == problem && source.live.map(\.decoding.progress) == [5])
        }
    }

    @Test func textComesAsItIsCertain() {
        var request = Request.test([1, 2, 3], max: 12)
        let whole = TestSource([request], workers: 1)
        let engine = BlockEngine()
        engine.endOdds = .max
        _ = run([whole], engine, workers: 1)
        #expect(whole.texts == whole.completions[0].map { "\($0) " }.joined() && whole.order.count == 1)
        request.generation.stops = StopSet([" \(whole.completions[0][5]) "])
        let stopped = TestSource([request], workers: 1)
        let second = BlockEngine()
        second.endOdds = .max
        _ = run([stopped], second, workers: 1)
        #expect(stopped.completions[0].count == 6)
        #expect(stopped.texts == whole.completions[0][..<5].map { "\($0) " }.joined().dropLast())
    }
}
