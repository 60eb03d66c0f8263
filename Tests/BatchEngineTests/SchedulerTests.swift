import Testing

@testable import BatchEngine

@Suite struct SchedulerTests {
    @Test func prefillRunsInChunksBesideDecode() {
        var scheduler = Scheduler(workers: 3, prefillChunk: 10)
        scheduler.admit(0, rows: 4)
        #expect(scheduler.nextStep() == [.init(request: 0, rows: 4, samples: true)])
        scheduler.admit(1, rows: 25)
        scheduler.admit(2, rows: 3)
        let decode = Scheduler.Part(request: 0, rows: 1, samples: true)
        #expect(scheduler.nextStep() == [decode, .init(request: 1, rows: 10, samples: false)])
        #expect(scheduler.nextStep() == [decode, .init(request: 1, rows: 10, samples: false)])
        #expect(
            scheduler.nextStep() == [
                decode, .init(request: 1, rows: 5, samples: true), .init(request: 2, rows: 3, samples: true),
            ])
        #expect(scheduler.nextStep().map(\.rows) == [1, 1, 1])
    }

    @Test func aPostponedRequestWaitsForARelease() {
        var scheduler = Scheduler(workers: 4, prefillChunk: 10)
        scheduler.admit(0, rows: 1)
        #expect(scheduler.canAdmit)
        scheduler.postpone()
        #expect(!scheduler.canAdmit)
        scheduler.release(0)
        #expect(scheduler.canAdmit && scheduler.isIdle)
    }

    @Test func slowStepsShrinkTheChunkAndQuickOnesRestoreIt() {
        var scheduler = Scheduler(workers: 2, prefillChunk: 512)
        scheduler.admit(0, rows: 100_000)
        func next(after seconds: Double) -> Int {
            scheduler.stepTook(seconds)
            return scheduler.nextStep()[0].rows
        }
        #expect(scheduler.nextStep()[0].rows == 512)
        #expect(
            [next(after: 5), next(after: 5), next(after: 5), next(after: 5), next(after: 5)] == [
                256, 128, 64, 32, 32,
            ])
        #expect([next(after: 0.7), next(after: 0.1), next(after: 0.1)] == [32, 64, 128])
        for _ in 0..<10 { _ = next(after: 0.1) }
        #expect(scheduler.nextStep()[0].rows == 512)
    }

    /// Whatever the numbers, each request gets exactly its rows, in order of admission, none waits for ever
    /// and no step is larger than promised.
    @Test func everyRequestGetsItsRowsAndNoneStarves() {
        var random = FixedRandom(7)
        for _ in 0..<200 {
            let workers = Int.random(in: 1...9, using: &random)
            let chunk = Int.random(in: 1...20, using: &random)
            let prompts = (0..<30).map { _ in Int.random(in: 1...50, using: &random) }
            let lengths = (0..<30).map { _ in Int.random(in: 1...20, using: &random) }
            var scheduler = Scheduler(workers: workers, prefillChunk: chunk)
            var next = 0
            var rows = [Int](repeating: 0, count: 30)
            var chosen = [Int](repeating: 0, count: 30)
            var firstTokens: [Int] = []
            var steps = 0
            while next < 30 || !scheduler.isIdle {
                while next < 30, scheduler.canAdmit {
                    scheduler.admit(next, rows: prompts[next])
                    next += 1
                }
                let parts = scheduler.nextStep()
                steps += 1
                #expect(!parts.isEmpty && parts.reduce(0) { $0 + $1.rows } <= workers + chunk)
                #expect(Set(parts.map(\.request)).count == parts.count)
                for part in parts {
                    rows[part.request] += part.rows
                    #expect(part.samples == (rows[part.request] >= prompts[part.request]))
                    guard part.samples else { continue }
                    if chosen[part.request] == 0 { firstTokens.append(part.request) }
                    chosen[part.request] += 1
                    if chosen[part.request] == lengths[part.request] { scheduler.release(part.request) }
                }
                guard steps < 10_000 else { break }
            }
            #expect(firstTokens == Array(0..<30))
            #expect(chosen == lengths)
            #expect(rows == zip(prompts, lengths).map { $0 + $1 - 1 })
        }
    }
}
