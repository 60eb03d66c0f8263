import TestSupport
import Testing

@testable import BatchEngine

@Suite struct SchedulerTests {
    @Test func prefillRunsInChunksBesideDecode() {
        var scheduler = Scheduler(workers: 3, prefillChunk: 10)
        #expect(scheduler.nextStep(prompts: [4]) == [4])
        #expect(scheduler.nextStep(prompts: [1, 25, 3]) == [1, 10, 0])
        #expect(scheduler.nextStep(prompts: [1, 15, 3]) == [1, 10, 0])
        #expect(scheduler.nextStep(prompts: [1, 5, 3]) == [1, 5, 3])
        #expect(scheduler.nextStep(prompts: [1, 1, 1]) == [1, 1, 1])
    }

    /// A completion with several rows does not wait for older prompts, and they wait for none but its rows.
    @Test func certainRowsComeBeforePrompts() {
        var scheduler = Scheduler(workers: 4, prefillChunk: 10)
        func next(_ open: [(rows: Int, isCompletion: Bool)]) -> [Int] {
            scheduler.nextStep(
                open.map { Scheduler.PendingRows(rows: $0.rows, isCompletion: $0.isCompletion) })
        }
        #expect(next([(25, false), (6, true), (1, true)]) == [5, 6, 1])
        #expect(next([(25, false), (9, true), (9, true), (9, true)]) == [0, 9, 3, 1])
    }

    /// Single rows come on, whatever the chunk, unless they are of parts.
    @Test func rowsOfPartsTakeTheChunk() {
        var scheduler = Scheduler(workers: 2, prefillChunk: 3)
        var open = Array(repeating: Scheduler.PendingRows(rows: 1, isCompletion: false), count: 6)
        for place in 0..<5 { open[place].isPart = true }
        open[1].rows = 2
        #expect(scheduler.nextStep(open) == [1, 2, 0, 0, 0, 1])
        #expect(open.map(\.decodes) == [false, false, false, false, false, true])
    }

    @Test func slowStepsShrinkTheChunkAndQuickOnesRestoreIt() {
        var scheduler = Scheduler(workers: 2, prefillChunk: 512)
        func next() -> Int { scheduler.nextStep(prompts: [100_000])[0] }
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
            let rows = scheduler.nextStep(
                zip(open, completions).map { Scheduler.PendingRows(rows: $0, isCompletion: $1) })
            #expect(rows.contains { $0 > 0 } && rows.reduce(0, +) <= workers + chunk)
            let decode = open.indices.filter { completions[$0] || open[$0] == 1 }
            #expect(decode.allSatisfy { rows[$0] > 0 }, "every completion comes on")
            let prefill = open.indices.filter { !decode.contains($0) }
            let begun = prefill.filter { rows[$0] > 0 }
            #expect(begun.dropLast().allSatisfy { rows[$0] == open[$0] })
            #expect(begun.elementsEqual(prefill.prefix(begun.count)))
        }
    }
}

extension Scheduler {
    mutating func nextStep(prompts: [Int]) -> [Int] {
        nextStep(prompts.map { PendingRows(rows: $0, isCompletion: false) })
    }
}
