import TestSupport
import Testing

@testable import BatchEngine

@Suite struct DraftGateTests {
    /// Seconds of a step on a machine that reads its weights in 60 ms and computes a row in 11.
    private func seconds(_ rows: Int) -> Double {
        (60 * 60 + Double(121 * rows * rows)).squareRoot() / 1000
    }

    private func gate(decoding rows: Int..., cost: (Int) -> Double) -> DraftGate {
        var gate = DraftGate()
        gate.note(rows: 300, seconds: cost(300))
        for _ in 0..<20 {
            for rows in rows { gate.note(rows: rows, seconds: cost(rows)) }
        }
        return gate
    }

    /// The draft tokens of one sequence that are tried, each as likely as the one before it.
    private func tried(_ likelihood: Double, _ gate: DraftGate, rows: Int) -> Int {
        var (tried, expected, all) = (0, 0.0, likelihood)
        while tried < 24, all >= gate.least(rows: rows + tried, tokens: Double(rows) + expected) {
            (tried, expected, all) = (tried + 1, expected + all, all * likelihood)
        }
        return tried
    }

    @Test func onlyRowsThatCostLittleAreTried() {
        let one = gate(decoding: 1, cost: seconds)
        let (sure, doubtful) = (tried(0.95, one, rows: 1), tried(0.4, one, rows: 1))
        #expect((5...20).contains(sure) && (1...4).contains(doubtful), "\(sure) and \(doubtful)")
        #expect(tried(0.01, one, rows: 1) == 0)
        let many = gate(decoding: 32, cost: seconds)
        #expect(tried(0.9, many, rows: 32) == 0 && tried(0.99, many, rows: 107) == 0)
    }

    @Test func itIsClosedBeforeAStepWasMeasured() {
        #expect(DraftGate().least(rows: 1, tokens: 1) >= 1)
    }

    /// Where each row costs as much as the first one, and where one is nothing beside what a step costs anyway.
    @Test func otherMachines() {
        let slow = gate(decoding: 1, 2) { 0.01 * Double($0) }
        #expect(tried(0.9, slow, rows: 2) == 0)
        let wide = gate(decoding: 1) { 0.05 + 0.0001 * Double($0) }
        #expect(tried(0.99, wide, rows: 1) == 24)
        // So short that looking up drafts is no less work.
        #expect(tried(0.99, gate(decoding: 1) { _ in 0.0001 }, rows: 1) == 0)
    }

    @Test func costsAreMeasuredAgain() {
        var gate = gate(decoding: 1, 2, cost: seconds)
        let before = gate.least(rows: 8, tokens: 8)
        // Rows become cheap, and dear again.
        for number in 0..<400 { gate.note(rows: 1 + number % 8, seconds: 0.06) }
        #expect(gate.least(rows: 8, tokens: 8) < before / 4)
        for number in 0..<400 { gate.note(rows: 1 + number % 8, seconds: 0.01 * Double(1 + number % 8)) }
        #expect(gate.least(rows: 8, tokens: 8) > 0.9)
        // A closed gate is tried again, as steps of one size don't say that it must stay closed.
        for _ in 0..<3_000 { gate.note(rows: 8, seconds: 0.08) }
        #expect(gate.least(rows: 8, tokens: 8) < 0.5)
    }

    /// A step that somebody disturbed says little.
    @Test func oneLongStepIsForgotten() {
        var gate = gate(decoding: 1, 2, 4, cost: seconds)
        let before = gate.least(rows: 2, tokens: 2)
        gate.note(rows: 2, seconds: 5)
        for _ in 0..<50 { for rows in [1, 2, 4] { gate.note(rows: rows, seconds: seconds(rows)) } }
        #expect(abs(gate.least(rows: 2, tokens: 2) - before) < 0.1 * before)
    }
}
