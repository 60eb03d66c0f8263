import TestSupport
import Testing

@testable import BatchEngine

@Suite struct GuessPlanTests {
    /// What steps take on a machine that reads its weights in 60 ms and computes a row in 11.
    private func seconds(_ rows: Int) -> Double {
        (60 * 60 + Double(121 * rows * rows)).squareRoot() / 1000
    }

    private func plan(decoding rows: Int..., cost: (Int) -> Double) -> GuessPlan {
        var plan = GuessPlan()
        plan.note(rows: 300, seconds: cost(300), isDecoding: false)
        for _ in 0..<20 {
            for rows in rows { plan.note(rows: rows, seconds: cost(rows), isDecoding: true) }
        }
        return plan
    }

    private func guess(_ likelihood: Double, _ count: Int = 24) -> Guess {
        var all = 1.0
        let likelihoods = (0..<count).map { _ in
            all *= likelihood
            return all
        }
        return Guess(tokens: Array(repeating: 1, count: count), likelihoods: likelihoods)
    }

    @Test func onlyRowsThatCostLittleAreGuessed() {
        let one = plan(decoding: 1, cost: seconds)
        #expect(one.hasRoom(rows: 1) && one.hasRoom(rows: 4))
        let sure = one.counts([guess(0.95)], rows: 1)[0]
        let doubtful = one.counts([guess(0.4)], rows: 1)[0]
        #expect((5...20).contains(sure) && (1...3).contains(doubtful), "\(sure) and \(doubtful)")
        #expect(one.counts([guess(0.01)], rows: 1) == [0] && one.counts([nil], rows: 1) == [0])
        // What can't pay is not looked for: with one row a likelihood of 5 in 100 may, with many only a sure one.
        #expect((0.03...0.08).contains(one.leastLikelihood(rows: 1)))
        #expect((0.6...0.8).contains(one.leastLikelihood(rows: 8)))
        let many = plan(decoding: 32, cost: seconds)
        #expect(!many.hasRoom(rows: 32) && !many.hasRoom(rows: 60))
        #expect(many.counts(Array(repeating: guess(0.9), count: 32), rows: 32).allSatisfy { $0 == 0 })
    }

    @Test func theLikeliestOfAllAreTaken() {
        let plan = plan(decoding: 3, cost: seconds)
        let counts = plan.counts([guess(0.97), nil, guess(0.5)], rows: 3)
        #expect(counts[0] > counts[2] && counts[1] == 0, "\(counts)")
        // No more than there are.
        #expect(plan.counts([guess(0.99, 2), guess(0.99, 1), nil], rows: 3) == [2, 1, 0])
    }

    @Test func aLargeStepHasNoRoom() {
        let plan = plan(decoding: 1, cost: seconds)
        #expect(plan.counts([guess(0.9)], rows: 107) == [0] && plan.counts([nil], rows: 107) == [0])
        #expect(plan.counts([guess(0.99)], rows: 1, most: 2) == [2])
        #expect(plan.counts([guess(0.99)], rows: 1, most: 0) == [0])
    }

    @Test func nothingIsGuessedBeforeAStepWasMeasured() {
        #expect(!GuessPlan().hasRoom(rows: 1))
    }

    /// Where each row costs as much as the first one, and where one is nothing beside what a step costs anyway.
    @Test func otherMachines() {
        let slow = plan(decoding: 1, 2) { 0.01 * Double($0) }
        #expect(!slow.hasRoom(rows: 2) && slow.counts([guess(0.9)], rows: 1) == [0])
        let wide = plan(decoding: 1) { 0.05 + 0.0001 * Double($0) }
        #expect(wide.counts([guess(0.99)], rows: 1) == [24])
        // So short that looking up guesses is no less work.
        #expect(!plan(decoding: 1) { _ in 0.0001 }.hasRoom(rows: 1))
    }

    @Test func costsAreMeasuredAgain() {
        var costs = StepCosts()
        for _ in 0..<20 { costs.note(rows: 1, seconds: 0.06, isDecoding: true) }
        costs.note(rows: 400, seconds: 4.4, isDecoding: false)
        #expect(abs(costs.seconds(rows: 8) - seconds(8)) < 0.005)
        // Rows of completions take twice as long as those of prompts: what was not measured is expected from what was.
        var slow = costs
        func twice(_ rows: Int) -> Double { seconds(2 * rows) }
        for number in 0..<60 {
            let rows = [1, 5, 1, 12][number % 4]
            slow.note(rows: rows, seconds: twice(rows), isDecoding: true)
        }
        slow.note(rows: 1, seconds: twice(1), isDecoding: true)
        #expect(abs(slow.seconds(rows: 8) / twice(8) - 1) < 0.1 && slow.seconds(rows: 8) > 1.4 * seconds(8))
        // A step that somebody disturbed is forgotten.
        costs.note(rows: 8, seconds: 0.9, isDecoding: true)
        for _ in 0..<500 { costs.note(rows: 1, seconds: 0.06, isDecoding: true) }
        #expect(costs.seconds(rows: 8) < 0.2)
        // Sequences grow, and so do the costs of all steps.
        for _ in 0..<300 { costs.note(rows: 1, seconds: 0.09, isDecoding: true) }
        #expect(costs.seconds(rows: 1) > 0.085 && costs.seconds(rows: 4) > 0.09)
    }
}
