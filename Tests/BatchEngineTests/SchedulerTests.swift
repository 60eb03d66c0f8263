import TestSupport
import Testing

@testable import BatchEngine

@Suite struct SchedulerTests {
    @Test func prefillRunsInChunksBesideDecode() {
        var scheduler = Scheduler(workers: 3, prefillChunk: 10)
        #expect(scheduler.nextStep([4]) == [.init(place: 0, rows: 4, samples: true)])
        let decode = Scheduler.Part(place: 0, rows: 1, samples: true)
        #expect(scheduler.nextStep([1, 25, 3]) == [decode, .init(place: 1, rows: 10, samples: false)])
        #expect(scheduler.nextStep([1, 15, 3]) == [decode, .init(place: 1, rows: 10, samples: false)])
        #expect(
            scheduler.nextStep([1, 5, 3]) == [
                decode, .init(place: 1, rows: 5, samples: true), .init(place: 2, rows: 3, samples: true),
            ])
        #expect(scheduler.nextStep([1, 1, 1]).map(\.rows) == [1, 1, 1])
    }

    @Test func slowStepsShrinkTheChunkAndQuickOnesRestoreIt() {
        var scheduler = Scheduler(workers: 2, prefillChunk: 512)
        func next() -> Int { scheduler.nextStep([100_000])[0].rows }
        func next(after seconds: Double) -> Int {
            scheduler.stepTook(seconds)
            return next()
        }
        #expect(next() == 512)
        #expect(
            [next(after: 5), next(after: 5), next(after: 5), next(after: 5), next(after: 5)] == [
                256, 128, 64, 32, 32,
            ])
        #expect([next(after: 0.7), next(after: 0.1), next(after: 0.1)] == [32, 64, 128])
        for _ in 0..<10 { _ = next(after: 0.1) }
        #expect(next() == 512)
    }

    @Test func whoGivesWayMakesTheOthersMoreCareful() {
        var scheduler = Scheduler(workers: 2, prefillChunk: 512)
        let least = scheduler.lookahead
        scheduler.gaveWay()
        scheduler.gaveWay()
        #expect(scheduler.lookahead == 4 * least)
        for _ in 0..<100 { scheduler.gaveWay() }
        #expect(scheduler.lookahead < 1 << 20, "and no more than matters")
        for _ in 0..<100 { scheduler.finished() }
        #expect(scheduler.lookahead == least)
    }

    /// Whatever the numbers, no step is larger than promised, and the oldest get their rows first.
    @Test func noStepIsTooLargeOrEmpty() {
        var random = FixedRandom(7)
        for _ in 0..<2000 {
            let workers = Int.random(in: 1...9, using: &random)
            let chunk = Int.random(in: 1...20, using: &random)
            var scheduler = Scheduler(workers: workers, prefillChunk: chunk)
            let open = (0..<workers).map { _ in Int.random(in: 1...50, using: &random) }
            let parts = scheduler.nextStep(open)
            #expect(!parts.isEmpty && parts.reduce(0) { $0 + $1.rows } <= workers + chunk)
            #expect(parts.map(\.place) == parts.map(\.place).sorted())
            #expect(parts.allSatisfy { $0.samples == ($0.rows == open[$0.place]) })
            let prefill = parts.filter { open[$0.place] > 1 }
            #expect(prefill.dropLast().allSatisfy { $0.rows == open[$0.place] })
            #expect(
                prefill.map(\.place).elementsEqual(
                    open.indices.filter { open[$0] > 1 }.prefix(prefill.count)))
        }
    }
}
