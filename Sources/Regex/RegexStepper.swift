/// Kind of match to look for.
package enum RegexAim: Sendable {
    /// Any match anywhere in the text: the order of the list doesn't matter, and a match ends the search.
    case anywhere
    /// The match from the beginning that the order of alternatives and the greediness of quantifiers prefer, as in a
    /// backtracking matcher: the list is in order of preference, and a match drops everything after it (as in Pike's
    /// and RE2's matchers).
    case preferred
}

/// Deterministic steps of a program. A state is a list of the program's states, with the kind of scalar before.
///
/// An assertion on the next scalar stays in the list until that is known.
struct RegexStepper: Sendable {
    /// Kind of scalar before a place.
    enum Before: Sendable { case nothing, other, word }

    struct State: Hashable, Sendable {
        var list: [Int32]
        var before: Before

        /// Whether there is a match, whatever the next scalar.
        var isMatch: Bool { list.last == 0 }
    }

    /// Number of program states seen so far, to bound the work.
    var visits = 0
    let program: RegexProgram
    private let programStart: Int32
    private let aim: RegexAim
    // States seen in a call, marked by a number that changes with each call.
    private var marks: [UInt32]
    private var mark: UInt32 = 0
    private var stack: [Int32] = []

    init(_ program: RegexProgram, _ pattern: Int, _ aim: RegexAim) {
        self.program = program
        self.aim = aim
        programStart = program.starts[pattern]
        marks = [UInt32](repeating: 0, count: program.states.count)
    }

    var start: State {
        mutating get { state([programStart], before: .nothing) }
    }

    /// Returns the list for the next class of scalars, or for the end of the text, the column after the last.
    mutating func settled(_ state: State, _ column: Int) -> [Int32] {
        isWaiting(state.list) ? close(state.list, before: state.before, column) : state.list
    }

    /// Whether any state waits for the next scalar.
    private func isWaiting(_ list: [Int32]) -> Bool {
        list.contains {
            switch program.states[Int($0)] {
            case .wordBoundary, .check: true
            default: false
            }
        }
    }

    /// Returns the program states right after a scalar of a class.
    mutating func taken(_ settled: [Int32], _ column: Int) -> [Int32] {
        visits += settled.count
        return settled.compactMap { state in
            guard case .set(let set, let after) = program.states[Int(state)],
                program.classifier.contains(Int(set), column)
            else { return nil }
            return after
        }
    }

    mutating func state(after taken: [Int32], _ column: Int) -> State {
        state(
            aim == .anywhere ? taken + [programStart] : taken, before: isWord(column) ? .word : .other)
    }

    /// Whether word boundaries matter and the class is of a word; never at the end of the text.
    func isWord(_ column: Int) -> Bool {
        program.wordSet.map { holds($0, column, atEnd: false) } ?? false
    }

    private mutating func state(_ list: [Int32], before: Before) -> State {
        let list = close(list, before: before, nil)
        // Only word boundaries, and assertions at the beginning, depend on more than the list. After a match everything
        // is alike.
        let asksForMore = program.wordSet != nil || before == .nothing && isWaiting(list)
        return State(list: list, before: asksForMore && list != [0] ? before : .other)
    }

    /// Returns all states reachable from `states` without a scalar: those with a set, undecided assertions, and 0 for
    /// the match.
    /// - Parameter column: nil while the next scalar is not known.
    private mutating func close(_ states: [Int32], before: Before, _ column: Int?) -> [Int32] {
        if mark == .max {
            mark = 0
            for i in marks.indices { marks[i] = 0 }
        }
        mark += 1
        var closed: [Int32] = []
        stack.removeAll(keepingCapacity: true)
        stack.append(contentsOf: states.reversed())
        while let index = stack.popLast() {
            guard marks[Int(index)] != mark else { continue }
            marks[Int(index)] = mark
            visits += 1
            switch program.states[Int(index)] {
            case .match: return aim == .anywhere ? [0] : closed + [0]
            case .set: closed.append(index)
            case .split(let a, let b):
                stack.append(b)
                stack.append(a)
            case .textStart(let next): if before == .nothing { stack.append(next) }
            case .wordBoundary(let isOne, let next):
                guard let column else {
                    closed.append(index)
                    continue
                }
                if ((before == .word) != isWord(column)) == isOne { stack.append(next) }
            case .check(let set, let atEnd, let next):
                guard let column else {
                    closed.append(index)
                    continue
                }
                if holds(Int(set), column, atEnd: atEnd) { stack.append(next) }
            }
        }
        if aim == .anywhere { closed.sort() }
        return closed
    }

    private func holds(_ set: Int, _ column: Int, atEnd: Bool) -> Bool {
        column == program.classifier.classCount ? atEnd : program.classifier.contains(set, column)
    }
}
