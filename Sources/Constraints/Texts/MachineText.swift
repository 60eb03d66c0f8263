import Foundation

/// A machine as an automaton that keeps what it was asked.
final class MachineText: ByteAutomaton {
    let machine: ByteMachine
    /// At state * 256 + byte: the state after it plus 2; 0 where it was not asked yet. nil where that is too much.
    private let known: UnsafeMutablePointer<Int32>?

    init(_ machine: ByteMachine) {
        self.machine = machine
        let rows = machine.automaton.count * machine.alphabet.nodeCount
        // Fresh zeros take no memory before they are touched.
        let memory = rows <= ConstraintLimits.knownRows ? calloc(rows * 256, MemoryLayout<Int32>.stride) : nil
        known = memory?.bindMemory(to: Int32.self, capacity: rows * 256)
    }

    deinit { free(known) }

    var start: Int32 { machine.start }

    func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        guard let known else { return machine.next(state, byte) }
        let place = Int(state) << 8 | Int(byte)
        if known[place] > 0 { return known[place] - 2 }
        let next = machine.next(state, byte)
        known[place] = next + 2
        return next
    }

    func isFinal(_ state: Int32) -> Bool { machine.isFinal(state) }
    func fewestBytes(_ state: Int32) -> Int { machine.fewestBytes(state) }
    func isBetweenScalars(_ state: Int32) -> Bool { machine.isBetweenScalars(state) }
}
