import Regex

/// An automaton over bytes: one over classes of scalars, and their spelling.
///
/// A state is that of the automaton before the scalar, times the alphabet's nodes, plus the node within the scalar.
struct ByteMachine: Sendable {
    let automaton: ScalarAutomaton
    let alphabet: ScalarAlphabet
    /// From the automaton's states; -1 for no end.
    let fewest: [Int32]
    private let nodeCount: UInt32

    /// - Returns: nil if no text is accepted.
    init?(_ automaton: ScalarAutomaton, _ alphabet: ScalarAlphabet) {
        var automaton = automaton
        fewest = automaton.trim(alphabet.fewestBytes)
        guard automaton.start >= 0 else { return nil }
        self.automaton = automaton
        self.alphabet = alphabet
        nodeCount = UInt32(alphabet.nodeCount)
    }

    var start: Int32 { automaton.start * Int32(nodeCount) }

    @inline(__always) func parts(_ state: Int32) -> (state: Int, node: Int) {
        let (state, node) = UInt32(bitPattern: state).quotientAndRemainder(dividingBy: nodeCount)
        return (Int(state), Int(node))
    }

    func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        let (scalarState, node) = parts(state)
        let entry = alphabet.entry(node, byte)
        guard entry >= 0 else {
            if entry == -1 { return -1 }
            let next = automaton.next(scalarState, Int(-2 - entry))
            return next < 0 ? -1 : next * Int32(nodeCount)
        }
        for ending in alphabet.endings(Int(entry)) where automaton.next(scalarState, ending.classIndex) >= 0 {
            return state + entry - Int32(node)
        }
        return -1
    }

    /// The result of `MachineText.next(_:ofKind:)`.
    func next(_ state: Int32, ofKind kind: UInt8) -> Int32 {
        let nexts: [Int32]
        if ScalarKind.ofASCII.contains(kind) {
            nexts = ScalarKind.bytes[Int(kind - ScalarKind.first)].map { next(state, $0) }
        } else {
            let (scalarState, node) = parts(state)
            guard node == 0 else { return -1 }
            nexts = alphabet.classes(ofKind: kind).map {
                let after = automaton.next(scalarState, $0)
                return after < 0 ? -1 : after * Int32(nodeCount)
            }
        }
        let only = nexts.first ?? -1
        return nexts.allSatisfy { $0 == only } ? only : MachineText.several
    }

    func isFinal(_ state: Int32) -> Bool {
        let (scalarState, node) = parts(state)
        return node == 0 && automaton.isFinal[scalarState]
    }

    /// Whether a text may continue from a state.
    func goesOn(_ state: Int32) -> Bool {
        let (scalarState, node) = parts(state)
        return node != 0 || (0..<automaton.classCount).contains { automaton.next(scalarState, $0) >= 0 }
    }

    func fewestBytes(_ state: Int32) -> Int {
        let (scalarState, node) = parts(state)
        guard node > 0 else { return Int(fewest[scalarState]) }
        var least = Int.max
        for ending in alphabet.endings(node) {
            let next = automaton.next(scalarState, ending.classIndex)
            if next >= 0 { least = min(least, Int(ending.fewest + fewest[Int(next)])) }
        }
        return least
    }

    func isBetweenScalars(_ state: Int32) -> Bool { parts(state).node == 0 }

    /// Every string, in all spellings that JSON allows.
    static let anySpelling = ScalarAlphabet.anySpelling.flatMap { everything($0) }
    /// Every string, in the spelling of answers.
    static let ownSpelling = ScalarAlphabet.anyScalar.flatMap { everything($0) }

    private static func everything(_ alphabet: ScalarAlphabet) -> ByteMachine? {
        ByteMachine(ScalarAutomaton(repeating: [true]), alphabet)
    }

    /// Whether it has only one state, so that lengths are free.
    var isRepeatedSet: Bool {
        let state = Int(automaton.start)
        return automaton.isFinal[state]
            && (0..<automaton.classCount).allSatisfy {
                let next = automaton.next(state, $0)
                return next < 0 || Int(next) == state
            }
    }
}
