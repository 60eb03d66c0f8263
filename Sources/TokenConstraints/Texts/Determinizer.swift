import JSONSchema

/// Makes a regular expression deterministic: texts that it matches somewhere within.
///
/// A state is a set of the program's states, with what was just before: nothing, a word's scalar or another. An
/// assertion that looks at the scalar that follows stays in the set until that is known.
struct Determinizer {
    private typealias Before = RegexClosure.Before

    private let program: RegexProgram
    private let programStart: Int32
    /// Whether a class has any scalar that can be written.
    private let isUsable: [Bool]
    private var automaton: ScalarAutomaton
    // The states of the program, in order, and last the one before.
    private var keys: [[Int32]] = []
    private var indices: [[Int32]: Int32] = [:]
    private var closure: RegexClosure
    private let wordClasses: [Bool]

    /// - Parameter isUsable: for each class, whether it has any scalar that can be written.
    /// - Returns: nil beyond the limits. Dead ends are left in, but for sets that are empty.
    static func automaton(
        _ program: RegexProgram, _ pattern: Int, isUsable: [Bool], _ effort: CompileEffort = CompileEffort()
    ) -> ScalarAutomaton? {
        var determinizer = Determinizer(program, pattern, isUsable)
        return determinizer.run(effort)
    }

    private init(_ program: RegexProgram, _ pattern: Int, _ isUsable: [Bool]) {
        self.program = program
        programStart = program.starts[pattern]
        self.isUsable = isUsable
        automaton = ScalarAutomaton(classCount: program.classifier.classCount)
        closure = RegexClosure(program)
        wordClasses = isUsable.indices.map { i in
            program.wordSet.map { program.classifier.contains($0, i) } ?? false
        }
    }

    private mutating func run(_ effort: CompileEffort) -> ScalarAutomaton? {
        automaton.start = index(closure.close([programStart], before: .nothing, isWordNext: nil), .nothing)
        var done = 0
        while done < keys.count {
            let before = closure.visits
            expand(Int32(done))
            // What is kept counts, too: memory has no other bound over all of a schema's texts.
            effort.spend(closure.visits - before + 4 * isUsable.count)
            guard automaton.isSmall, closure.visits <= ConstraintLimits.steps, !effort.isUsedUp else {
                return nil
            }
            done += 1
        }
        return automaton
    }

    private mutating func index(_ states: [Int32], _ before: Before) -> Int32 {
        if states.isEmpty { return -1 }
        // Only word boundaries ask for more than the set. Where the match is found, all else is alike.
        let before = program.wordSet == nil ? Before.other : before
        let key = states[0] == 0 ? [0] : states + [before.rawValue]
        if let known = indices[key] { return known }
        let isFinal =
            states[0] == 0 || closure.close(states, before: before, isWordNext: false, isEnd: true).first == 0
        let index = automaton.addState(isFinal: isFinal)
        indices[key] = index
        keys.append(key)
        return index
    }

    private mutating func expand(_ index: Int32) {
        var states = keys[Int(index)]
        if states == [0] {
            for i in isUsable.indices where isUsable[i] { automaton.set(index, i, index) }
            return
        }
        let before = Before(rawValue: states.removeLast()) ?? .other
        // What is here where the next scalar is none of a word, and where it is one.
        var here = [states, states]
        if closure.isWaiting(states) {
            here[0] = closure.close(states, before: before, isWordNext: false)
            if program.wordSet != nil { here[1] = closure.close(states, before: before, isWordNext: true) }
        }
        var last: (next: [Int32], before: Before, index: Int32)?
        for i in isUsable.indices where isUsable[i] {
            let states = here[wordClasses[i] && program.wordSet != nil ? 1 : 0]
            guard states.first != 0 else {
                automaton.set(index, i, self.index([0], .other))
                continue
            }
            let next = closure.next(states, i)
            closure.visits += states.count
            let after: Before = wordClasses[i] ? .word : .other
            if let last, last.next == next, last.before == after {
                automaton.set(index, i, last.index)
                continue
            }
            let reached = self.index(
                closure.close(next + [programStart], before: after, isWordNext: nil), after)
            automaton.set(index, i, reached)
            last = (next, after, reached)
        }
    }
}
