/// Names of members, each in one spelling.
package final class NameText: ByteAutomaton {
    package let isAny: Bool
    /// Without the patterns.
    let contents: MachineText
    private var machine: ByteMachine { contents.machine }
    /// By the automaton's states.
    private let matches: [[Int]]
    /// The number of names after each of the automaton's states; -1 beyond an Int32.
    private let counts: [Int32]

    init(_ machine: ByteMachine, isAny: Bool, _ matches: [[Int]]) {
        contents = MachineText(machine)
        self.isAny = isAny
        self.matches = matches
        counts = machine.textCounts
    }

    /// Every string.
    static var any: NameText? { ByteMachine.ownSpelling.map { NameText($0, isAny: true, [[]]) } }

    package var start: Int32 { contents.start }
    package func next(_ state: Int32, _ byte: UInt8) -> Int32 { contents.next(state, byte) }
    package func isFinal(_ state: Int32) -> Bool { contents.isFinal(state) }
    package func fewestBytes(_ state: Int32) -> Int { contents.fewestBytes(state) }
    package func isBetweenScalars(_ state: Int32) -> Bool { contents.isBetweenScalars(state) }

    /// The indices of the patterns, in order, that a name matches which ends in a final state.
    package func matched(_ state: Int32) -> [Int] { matches[machine.parts(state).state] }

    /// The number of names that begin with the bytes before a state, including itself if it is final; nil beyond an
    /// Int32.
    package func nameCount(_ state: Int32) -> Int? {
        let (scalarState, node) = machine.parts(state)
        guard node > 0 else { return counts[scalarState] < 0 ? nil : Int(counts[scalarState]) }
        return machine.textCount(scalarState, node, counts)
    }
}

extension ByteMachine {
    /// The number of texts after each state; -1 if infinite or beyond an Int32.
    fileprivate var textCounts: [Int32] {
        enum Progress { case unseen, open, done }
        var counts = [Int32](repeating: -1, count: automaton.count)
        var progress = [Progress](repeating: .unseen, count: automaton.count)
        var stack = [(state: Int(automaton.start), classIndex: 0, isEndless: false)]
        progress[stack[0].state] = .open
        while let (state, classIndex, isEndless) = stack.last {
            guard classIndex < automaton.classCount else {
                progress[state] = .done
                stack.removeLast()
                let count = isEndless ? nil : textCount(state, 0, counts)
                counts[state] = count.map { Int32($0) + (automaton.isFinal[state] ? 1 : 0) } ?? -1
                continue
            }
            stack[stack.count - 1].classIndex += 1
            let next = Int(automaton.next(state, classIndex))
            guard next >= 0 else { continue }
            switch progress[next] {
            // A loop: it may be repeated, and leads to an end, as all ways do.
            case .open: stack[stack.count - 1].isEndless = true
            case .done: break
            case .unseen:
                progress[next] = .open
                stack.append((next, 0, false))
            }
        }
        return counts
    }

    /// The texts that continue within a scalar, or with at least one more.
    fileprivate func textCount(_ state: Int, _ node: Int, _ counts: [Int32]) -> Int? {
        var sum = 0
        for ending in alphabet.endings(node) {
            let next = automaton.next(state, ending.classIndex)
            guard next >= 0 else { continue }
            guard counts[Int(next)] >= 0 else { return nil }
            sum += ending.scalars * Int(counts[Int(next)])
            guard sum < Int32.max else { return nil }
        }
        return sum
    }
}
