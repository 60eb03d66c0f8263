import FoundationShim
import Regex
import Synchronization

/// A machine as an automaton with a cache, shared by threads.
package final class MachineText: ByteAutomaton {
    let machine: ByteMachine
    /// Nil if there would be too many rows.
    // C memory, which is only used by atomic operations after its creation.
    private nonisolated(unsafe) let memory: Memory?
    /// States, including those within scalars.
    let rows: Int
    private let knownFreedom = AtomicLazyReference<ScalarFreedom>()

    private struct Memory {
        /// At state * 256 + byte: the next state plus 2; 0 if unknown.
        let known: UnsafeMutablePointer<Atomic<Int32>>
        /// At state * 16 + kind: the state after any scalar of it plus 3; 0 if unknown.
        let kinds: UnsafeMutablePointer<Atomic<Int32>>
        /// By state: the result of `loops`; 0 if unknown.
        let loops: UnsafeMutablePointer<Atomic<UInt64>>
        /// By state: whether it is not within a scalar. Constant.
        let isBetween: UnsafeMutablePointer<Bool>
    }

    init(_ machine: ByteMachine) {
        self.machine = machine
        rows = machine.automaton.count * machine.alphabet.nodeCount
        // Untouched zeros need no memory.
        guard rows <= ConstraintLimits.knownRows, let known = Self.zeros(rows * 256, of: Atomic<Int32>.self),
            let kinds = Self.zeros(rows * 16, of: Atomic<Int32>.self),
            let loops = Self.zeros(rows, of: Atomic<UInt64>.self),
            let isBetween = Self.zeros(rows, of: Bool.self)
        else {
            memory = nil
            return
        }
        for state in stride(from: 0, to: rows, by: machine.alphabet.nodeCount) { isBetween[state] = true }
        memory = Memory(known: known, kinds: kinds, loops: loops, isBetween: isBetween)
    }

    private static func zeros<T: ~Copyable>(_ count: Int, of type: T.Type) -> UnsafeMutablePointer<T>? {
        calloc(count, MemoryLayout<T>.stride)?.bindMemory(to: type, capacity: count)
    }

    deinit {
        free(memory?.known)
        free(memory?.kinds)
        free(memory?.loops)
        free(memory?.isBetween)
    }

    /// Its approximate size: of large tables usually only states between scalars are used.
    var bytes: Int { (rows > 100 ? machine.automaton.count : rows) * 1_100 }

    package var start: Int32 { machine.start }

    @inline(__always) package func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        guard let memory else { return machine.next(state, byte) }
        let known = memory.known[Int(state) << 8 | Int(byte)].load(ordering: .relaxed)
        return known > 0 ? known - 2 : ask(state, byte, memory)
    }

    @inline(never) private func ask(_ state: Int32, _ byte: UInt8, _ memory: Memory) -> Int32 {
        let next = machine.next(state, byte)
        memory.known[Int(state) << 8 | Int(byte)].store(next + 2, ordering: .relaxed)
        return next
    }

    /// For scalars of one kind that lead to several states.
    static let several: Int32 = -2

    /// The state after any scalar of a kind; -1 if no text continues with one, `several` if they differ.
    @inline(__always) func next(_ state: Int32, ofKind kind: UInt8) -> Int32 {
        guard let memory else { return machine.next(state, ofKind: kind) }
        let place = Int(state) << 4 | Int(kind - ScalarKind.first)
        let known = memory.kinds[place].load(ordering: .relaxed)
        if known > 0 { return known - 3 }
        let next = machine.next(state, ofKind: kind)
        memory.kinds[place].store(next + 3, ordering: .relaxed)
        return next
    }

    package func isFinal(_ state: Int32) -> Bool { machine.isFinal(state) }
    package func fewestBytes(_ state: Int32) -> Int { machine.fewestBytes(state) }

    @inline(__always) package func isBetweenScalars(_ state: Int32) -> Bool {
        memory?.isBetween[Int(state)] ?? machine.isBetweenScalars(state)
    }

    /// Returns an automaton of one state that continues wherever this one does from a state between two scalars, for
    /// texts of any length; and the most bytes of a way to the end after one. Nil if scalars are allowed in only some
    /// of the states that it leads to.
    func oneState(from state: Int32) -> (text: MachineText, mostBytes: Int)? {
        var waiting = [Int32(machine.parts(state).state)]
        var known = Set(waiting)
        var taken: [Bool]?
        var most: Int32 = 0
        while let state = waiting.popLast() {
            most = max(most, machine.fewest[Int(state)])
            let nexts = (0..<machine.automaton.classCount).map { machine.automaton.next(Int(state), $0) }
            let own = nexts.map { $0 >= 0 }
            guard taken ?? own == own else { return nil }
            taken = own
            for next in nexts where next >= 0 && known.insert(next).inserted { waiting.append(next) }
        }
        return ByteMachine(ScalarAutomaton(repeating: taken ?? []), machine.alphabet)
            .map { (MachineText($0), Int(most) + Self.restBytes) }
    }

    /// The most bytes left of a scalar: those of `\u0000`.
    private static let restBytes = 5
    /// The most bytes of a way to an end, from any state.
    var mostBytes: Int { Int(machine.fewest.max() ?? 0) + Self.restBytes }

    /// Nil if there are very many states.
    var freedom: ScalarFreedom? {
        memory == nil ? nil : knownFreedom.load() ?? knownFreedom.storeIfNil(ScalarFreedom(machine))
    }

    /// The bytes that lead from a state between two scalars back to it.
    func loops(_ state: Int32) -> LoopClasses {
        guard let memory else { return LoopClasses(machine, state) }
        let known = memory.loops[Int(state)].load(ordering: .relaxed)
        if known != 0 { return LoopClasses(bits: known) }
        let loops = LoopClasses(machine, state)
        memory.loops[Int(state)].store(loops.bits, ordering: .relaxed)
        return loops
    }
}
