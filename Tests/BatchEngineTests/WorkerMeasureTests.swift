import TestSupport
import Testing

@testable import BatchEngine

/// How many run together, as steps of a scripted machine say.
@Suite struct WorkerMeasureTests {
    /// Steps of so many rows as may run.
    /// - Parameters:
    ///   - cost: seconds of a step with so many rows, without attention.
    ///   - attention: of a row.
    private func run(
        _ steps: Int, from least: Int = 32, to most: Int = 128, attention: Double = 0,
        _ cost: (Int) -> Double
    ) -> Scheduler {
        var scheduler = Scheduler(workers: least, upTo: most, prefillChunk: 512)
        for _ in 0..<steps {
            let parts = scheduler.nextStep(prompts: Array(repeating: 1, count: scheduler.workers))
            let own = attention * Double(parts.count)
            scheduler.stepTook(cost(parts.count) + own, attention: own)
        }
        return scheduler
    }

    /// Memory is the limit up to so many rows, and then arithmetic.
    private static func machine(_ bound: Int) -> (Int) -> Double { { Double(max(bound, $0)) / 1000 } }

    @Test(arguments: [(20, 32), (40, 48), (60, 72), (100, 108), (500, 128)])
    func asManyAsSaveTime(bound: Int, workers: Int) throws {
        let scheduler = run(300, Self.machine(bound))
        #expect(scheduler.workers == workers)
        let finding = try #require(scheduler.measure?.finding)
        #expect(finding.workers == workers)
        #expect(finding.tried > finding.before)
    }

    /// What saves next to nothing of a whole row's time is not worth the room.
    @Test func attentionIsNotSaved() {
        #expect(run(300, attention: 0.1, Self.machine(40)).workers == 32)
        #expect(run(300, attention: 0.001, Self.machine(40)).workers == 48)
    }

    @Test func whatIsSetIsNotMeasured() {
        #expect(run(300, from: 7, to: 7, Self.machine(100)).workers == 7)
    }

    /// Steps in which prompts are read, or in which fewer take part, say nothing.
    @Test func otherStepsDoNotCount() {
        var scheduler = Scheduler(workers: 32, upTo: 128, prefillChunk: 512)
        for number in 0..<1000 {
            let prompts = number % 2 == 0 ? [100] + Array(repeating: 1, count: 31) : [1, 1, 1]
            let parts = scheduler.nextStep(prompts: prompts)
            scheduler.stepTook(1 / Double(parts.count))
        }
        #expect(scheduler.workers == 32 && scheduler.measure?.finding == nil)
    }

    /// Other programs make some steps much longer, a few at random and many in a row.
    @Test(arguments: 1...12) func noiseDoesNoHarm(seed: UInt64) {
        var random = FixedRandom(seed)
        var isBusy = false
        func noisy(_ cost: @escaping (Int) -> Double) -> (Int) -> Double {
            { rows in
                if Int.random(in: 0..<150, using: &random) == 0 { isBusy.toggle() }
                var factor = 1 + Double.random(in: 0...0.02, using: &random)
                if Int.random(in: 0..<4, using: &random) == 0 {
                    factor += Double.random(in: 0...1, using: &random)
                }
                return cost(rows) * factor * (isBusy ? 1.7 : 1)
            }
        }
        func rowTime(_ scheduler: Scheduler, _ cost: (Int) -> Double) -> Double {
            cost(scheduler.workers) / Double(scheduler.workers)
        }
        // What is gained by more shows, in the end.
        let bound = Self.machine(100)
        let many = run(6000, noisy(bound))
        #expect(rowTime(many, bound) < 0.75 * bound(32) / 32, "\(many.workers)")
        // Where more would do harm, what others made believe is found out.
        let crowded = { (rows: Int) in Double(rows) * (1 + 0.01 * Double(max(0, rows - 32))) / 1000 }
        var times = 0.0
        _ = run(6000) { rows in
            times += crowded(rows) / Double(rows)
            return noisy(crowded)(rows)
        }
        #expect(times / 6000 < 1.1 * crowded(32) / 32, "\(times * 1000 / 6000)")
    }

    /// Without room in the KV cache more would only be in each other's way.
    @Test func noRoomEndsIt() {
        var scheduler = run(200, Self.machine(1000))
        #expect(scheduler.workers == 128)
        scheduler.gaveWay()
        #expect(scheduler.workers == 85)
        for _ in 0..<9 { scheduler.gaveWay() }
        #expect(scheduler.workers == 32)
        for _ in 0..<3000 {
            let parts = scheduler.nextStep(prompts: Array(repeating: 1, count: scheduler.workers))
            scheduler.stepTook(Self.machine(1000)(parts.count))
        }
        #expect(scheduler.workers == 32)
    }
}
