import TestSupport
import Testing

@testable import BatchEngine

@Suite struct SchedulerTests {
    @Test func prefillRunsInChunksBesideDecode() {
        var scheduler = Scheduler(workers: 3, prefillChunk: 10)
        func prefill(_ place: Int, _ rows: Int, samples: Bool = true) -> Scheduler.ScheduledRows {
            Scheduler.ScheduledRows(place: place, rows: rows, samples: samples, decodes: false)
        }
        #expect(scheduler.nextStep(prompts: [4]) == [prefill(0, 4)])
        let decode = Scheduler.ScheduledRows(place: 0, rows: 1, samples: true, decodes: true)
        #expect(scheduler.nextStep(prompts: [1, 25, 3]) == [decode, prefill(1, 10, samples: false)])
        #expect(scheduler.nextStep(prompts: [1, 15, 3]) == [decode, prefill(1, 10, samples: false)])
        #expect(scheduler.nextStep(prompts: [1, 5, 3]) == [decode, prefill(1, 5), prefill(2, 3)])
        #expect(scheduler.nextStep(prompts: [1, 1, 1]).map(\.rows) == [1, 1, 1])
    }

    /// A completion with several rows does not wait for older prompts, and they wait for none but its rows.
    @Test func certainRowsComeBeforePrompts() {
        var scheduler = Scheduler(workers: 4, prefillChunk: 10)
        func next(_ open: [(rows: Int, isCompletion: Bool)]) -> [[Int]] {
            scheduler.nextStep(
                open.map { Scheduler.PendingRows(rows: $0.rows, isCompletion: $0.isCompletion) }
            )
            .map { [$0.place, $0.rows, $0.samples ? 1 : 0, $0.decodes ? 1 : 0] }
        }
        #expect(next([(25, false), (6, true), (1, true)]) == [[0, 5, 0, 0], [1, 6, 1, 1], [2, 1, 1, 1]])
        #expect(
            next([(25, false), (9, true), (9, true), (9, true)]) == [
                [1, 9, 1, 1], [2, 3, 0, 1], [3, 1, 0, 1],
            ])
    }

    /// Single rows come on, whatever the chunk, unless they are of parts.
    @Test func rowsOfPartsTakeTheChunk() {
        var scheduler = Scheduler(workers: 2, prefillChunk: 3)
        var open = Array(repeating: Scheduler.PendingRows(rows: 1, isCompletion: false), count: 6)
        for place in 0..<5 { open[place].isPart = true }
        open[1].rows = 2
        let parts = scheduler.nextStep(open)
        #expect(parts.map(\.place) == [0, 1, 5] && parts.map(\.rows) == [1, 2, 1])
        #expect(parts.map(\.decodes) == [false, false, true])
    }

    @Test func slowStepsShrinkTheChunkAndQuickOnesRestoreIt() {
        var scheduler = Scheduler(workers: 2, prefillChunk: 512)
        func next() -> Int { scheduler.nextStep(prompts: [100_000])[0].rows }
        func next(after seconds: Double) -> Int {
            scheduler.passTook(seconds)
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
            let completions = open.map { _ in Int.random(in: 0...9, using: &random) == 0 }
            let parts = scheduler.nextStep(
                zip(open, completions).map { Scheduler.PendingRows(rows: $0, isCompletion: $1) })
            #expect(!parts.isEmpty && parts.reduce(0) { $0 + $1.rows } <= workers + chunk)
            #expect(parts.map(\.place) == parts.map(\.place).sorted())
            #expect(parts.allSatisfy { $0.samples == ($0.rows == open[$0.place]) })
            let decode = parts.filter(\.decodes)
            #expect(
                decode.map(\.place) == open.indices.filter { completions[$0] || open[$0] == 1 },
                "every completion comes on")
            let prefill = parts.filter { !$0.decodes }
            #expect(prefill.dropLast().allSatisfy { $0.rows == open[$0.place] })
            #expect(
                prefill.map(\.place).elementsEqual(
                    open.indices.filter { open[$0] > 1 && !completions[$0] }.prefix(prefill.count)))
        }
    }
}

extension Scheduler {
    mutating func nextStep(prompts: [Int]) -> [ScheduledRows] {
        nextStep(prompts.map { PendingRows(rows: $0, isCompletion: false) })
    }
}
