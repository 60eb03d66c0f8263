import JSON

/// Deterministic automaton of a program, built while texts are searched. When it grows too large it starts anew, so the
/// worst time of a search is the length of the text times the size of the program.
struct LazyAutomaton: Sendable {
    private static let unknown: Int32 = -1
    private static let dead: Int32 = -2
    private static let found: Int32 = -3

    /// Columns of `transitions`: the classes and the end of the text.
    private let width: Int
    private var states: [RegexStepper.State] = []
    private var indices: [RegexStepper.State: Int32] = [:]
    private var transitions: [Int32] = []
    private var keptNumbers = 0
    private var restarts = 0
    private var stepper: RegexStepper

    /// - Parameter pattern: index of one of the program's expressions.
    init(_ program: RegexProgram, _ pattern: Int) {
        width = program.classifier.classCount + 1
        stepper = RegexStepper(program, pattern, .anywhere)
    }

    /// Whether the pattern matches somewhere in the text.
    /// - Parameter budget: number of states that may be visited; reduced by those that were.
    /// - Returns: nil if the budget is too small.
    mutating func finds(in text: UnsafeBufferPointer<UInt8>, budget: inout Int) -> Bool? {
        stepper.visits = 0
        defer { budget -= stepper.visits }
        var state = index(of: stepper.start)
        if let bytes = text.baseAddress {
            var i = 0
            while i < text.count, state >= 0 {
                let (scalar, length) = UTF8Bytes.decode(bytes, i)
                i += length
                state = step(state, stepper.program.classifier.classIndex(of: scalar))
                if stepper.visits > budget { return nil }
            }
        }
        if state >= 0 { state = step(state, width - 1) }
        return state == Self.found
    }

    private mutating func step(_ state: Int32, _ column: Int) -> Int32 {
        let place = Int(state) * width + column
        let known = transitions[place]
        if known != Self.unknown { return known }
        let restartsBefore = restarts
        let next = computeStep(states[Int(state)], column)
        if restarts == restartsBefore { transitions[place] = next }
        return next
    }

    private mutating func computeStep(_ state: RegexStepper.State, _ column: Int) -> Int32 {
        let settled = stepper.settled(state, column)
        if settled == [0] { return Self.found }
        if column == width - 1 { return Self.dead }
        return index(of: stepper.state(after: stepper.taken(settled, column), column))
    }

    private mutating func index(of state: RegexStepper.State) -> Int32 {
        if state.isMatch { return Self.found }
        if state.list.isEmpty { return Self.dead }
        if let known = indices[state] { return known }
        keptNumbers += state.list.count + width
        if states.count >= RegexLimits.cachedStates || keptNumbers > RegexLimits.cachedNumbers {
            restarts += 1
            states = []
            indices = [:]
            transitions = []
            keptNumbers = state.list.count + width
        }
        let index = Int32(states.count)
        states.append(state)
        indices[state] = index
        transitions += repeatElement(Self.unknown, count: width)
        return index
    }
}
