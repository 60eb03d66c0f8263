import JSON

/// The deterministic automaton of a program, made as texts ask for it. Its size is bounded: if it grows too large it
/// begins anew, so that a search takes at worst time in proportion to the text times the program.
///
/// A state is a set of the program's states, with what was just before: nothing, a word's scalar or another. An
/// assertion looks at the scalar that follows, so it stays in the set until that is known.
struct LazyAutomaton: Sendable {

    private struct Key: Hashable {
        var states: [Int32]
        var before: RegexClosure.Before
    }

    private static let unknown: Int32 = -1
    private static let dead: Int32 = -2
    private static let found: Int32 = -3

    private let program: RegexProgram
    private let programStart: Int32
    /// Columns of `transitions`: the classes, and the end of the text.
    private let width: Int
    private var keys: [Key] = []
    private var indices: [Key: Int32] = [:]
    private var transitions: [Int32] = []
    private var keptNumbers = 0
    private var restarts = 0
    private var closure: RegexClosure

    /// - Parameter start: of one of the program's expressions.
    init(_ program: RegexProgram, _ start: Int32) {
        self.program = program
        programStart = start
        width = program.classifier.classCount + 1
        closure = RegexClosure(program)
    }

    /// Whether the pattern matches somewhere in the text.
    /// - Parameter budget: how many states may be visited; what is left of it.
    /// - Returns: nil if that takes more.
    mutating func finds(in text: UnsafeBufferPointer<UInt8>, budget: inout Int) -> Bool? {
        closure.visits = 0
        defer { budget -= closure.visits }
        var state = start()
        if let bytes = text.baseAddress {
            var i = 0
            while i < text.count, state >= 0 {
                let (scalar, length) = UTF8Bytes.decode(bytes, i)
                i += length
                state = step(state, program.classifier.classIndex(of: scalar))
                if closure.visits > budget { return nil }
            }
        }
        if state >= 0 { state = step(state, width - 1) }
        return state == Self.found
    }

    private mutating func start() -> Int32 {
        let states = closure.close([programStart], before: .nothing, isWordNext: nil)
        return states.first == 0 ? Self.found : index(of: Key(states: states, before: .nothing))
    }

    private mutating func step(_ state: Int32, _ column: Int) -> Int32 {
        let place = Int(state) * width + column
        let known = transitions[place]
        if known != Self.unknown { return known }
        let restartsBefore = restarts
        let next = computeStep(keys[Int(state)], column)
        if restarts == restartsBefore { transitions[place] = next }
        return next
    }

    private mutating func computeStep(_ key: Key, _ column: Int) -> Int32 {
        let isEnd = column == width - 1
        let isWord = !isEnd && program.wordSet.map { program.classifier.contains($0, column) } ?? false
        let here =
            closure.isWaiting(key.states)
            ? closure.close(key.states, before: key.before, isWordNext: isWord, isEnd: isEnd) : key.states
        if here.first == 0 { return Self.found }
        if isEnd { return Self.dead }
        let next = closure.next(here, column) + [programStart]
        closure.visits += here.count
        let before: RegexClosure.Before = program.wordSet != nil && isWord ? .word : .other
        let states = closure.close(next, before: before, isWordNext: nil)
        if states.isEmpty { return Self.dead }
        return states.first == 0 ? Self.found : index(of: Key(states: states, before: before))
    }

    private mutating func index(of key: Key) -> Int32 {
        if let known = indices[key] { return known }
        keptNumbers += key.states.count + width
        if keys.count >= RegexLimits.cachedStates || keptNumbers > RegexLimits.cachedNumbers {
            restarts += 1
            keys = []
            indices = [:]
            transitions = []
            keptNumbers = key.states.count + width
        }
        let index = Int32(keys.count)
        keys.append(key)
        indices[key] = index
        transitions += repeatElement(Self.unknown, count: width)
        return index
    }
}
