/// What states of a program lead to without a scalar: the part of making it deterministic that needs room to work in.
package struct RegexClosure: Sendable {
    /// What was just before a place.
    package enum Before: Int32, Sendable { case nothing, other, word }

    /// States seen so far, so that work can be bounded.
    package var visits = 0
    private let program: RegexProgram
    // Which states a call has seen, by a number that changes with each call.
    private var marks: [UInt32]
    private var mark: UInt32 = 0
    private var stack: [Int32] = []

    package init(_ program: RegexProgram) {
        self.program = program
        marks = [UInt32](repeating: 0, count: program.states.count)
    }

    /// All states that `states` lead to without a scalar, in order: those with a set, the match, which is 0, and
    /// assertions that can't be decided yet.
    /// - Parameter isWordNext: nil while the next scalar is not known.
    package mutating func close(
        _ states: [Int32], before: Before, isWordNext: Bool?, isEnd: Bool = false
    ) -> [Int32] {
        if mark == .max {
            mark = 0
            for i in marks.indices { marks[i] = 0 }
        }
        mark += 1
        var closed: [Int32] = []
        stack.removeAll(keepingCapacity: true)
        stack.append(contentsOf: states)
        while let index = stack.popLast() {
            guard marks[Int(index)] != mark else { continue }
            marks[Int(index)] = mark
            visits += 1
            switch program.states[Int(index)] {
            case .set, .match: closed.append(index)
            case .split(let a, let b):
                stack.append(a)
                stack.append(b)
            case .assertion(let assertion, let next):
                switch holds(assertion, before: before, isWordNext: isWordNext, isEnd: isEnd) {
                case true?: stack.append(next)
                case false?: break
                case nil: closed.append(index)
                }
            }
        }
        closed.sort()
        return closed
    }

    /// Whether one of them is an assertion that waits for the next scalar.
    package func isWaiting(_ states: [Int32]) -> Bool {
        states.contains { if case .assertion = program.states[Int($0)] { true } else { false } }
    }

    /// The states after a scalar of a class.
    package func next(_ states: [Int32], _ classIndex: Int) -> [Int32] {
        states.compactMap { state in
            guard case .set(let set, let after) = program.states[Int(state)],
                program.classifier.contains(Int(set), classIndex)
            else { return nil }
            return after
        }
    }

    private func holds(
        _ assertion: RegexAssertion, before: Before, isWordNext: Bool?, isEnd: Bool
    ) -> Bool? {
        if assertion == .textStart { return before == .nothing }
        guard let isWordNext else { return nil }
        switch assertion {
        case .textStart, .textEnd: return isEnd
        case .wordBoundary: return (before == .word) != isWordNext
        case .noWordBoundary: return (before == .word) == isWordNext
        }
    }
}
