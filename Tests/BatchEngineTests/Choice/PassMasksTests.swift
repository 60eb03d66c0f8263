import Foundation
import Synchronization
import TestSupport
import Testing

@testable import BatchEngine

/// Masks are made once each, ahead of the rows that need them.
@Suite struct StepMasksTests {
    /// Counts how often it is asked, and may hold the one who asks.
    private final class Gate: Sendable {
        let asked = Mutex(0)
        let opened = DispatchSemaphore(value: 0)
        let entered = DispatchSemaphore(value: 0)
    }
    private struct Gated: Constraint {
        let gate: Gate
        let token: Int32
        var waits = false

        func allowed() -> TokenMask {
            gate.asked.withLock { $0 += 1 }
            if waits {
                gate.entered.signal()
                _ = gate.opened.wait(timeout: .now() + longestWait)
            }
            return TokenMask([token], count: 10)
        }
        mutating func accept(_ token: Int32) -> Bool { true }
    }

    @Test func eachMaskIsMadeOnceAndForItsRow() {
        let thread = MaskThread()
        for round in 0..<200 {
            let gate = Gate()
            let masks = thread.begin(
                (0..<9).map { $0 % 4 == 3 ? nil : Gated(gate: gate, token: Int32($0)) })
            let found = (0..<9).map { number in masks?.mask(of: round % 2 == 0 ? number : 8 - number) }
            for (number, mask) in found.enumerated() {
                let row = round % 2 == 0 ? number : 8 - number
                #expect(mask == (row % 4 == 3 ? nil : TokenMask([Int32(row)], count: 10)))
            }
            #expect(gate.asked.withLock { $0 } == 7)
        }
        #expect(thread.begin([nil, nil]) == nil)
    }

    /// The thread begins before anybody asks. Of what it has not come to, the one who needs it makes his own; for what
    /// it has begun he waits.
    @Test func masksAreMadeAheadOrByWhoNeedsThem() throws {
        let gate = Gate()
        let thread = MaskThread()
        let masks = try #require(
            thread.begin([
                Gated(gate: gate, token: 1, waits: true), Gated(gate: gate, token: 2),
            ]))
        #expect(gate.entered.wait(timeout: .now() + longestWait) == .success, "nobody makes it")
        #expect(masks.mask(of: 1) == TokenMask([2], count: 10))
        gate.opened.signal()
        #expect(masks.mask(of: 0) == TokenMask([1], count: 10))
        #expect(gate.asked.withLock { $0 } == 2)
    }

    @Test func droppedMasksAreNotMade() {
        let gate = Gate()
        let masks = PassMasks([Gated(gate: gate, token: 1)])
        masks.drop()
        masks.make()
        #expect(gate.asked.withLock { $0 } == 0)
    }
}
