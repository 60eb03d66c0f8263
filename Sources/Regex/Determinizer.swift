/// Builds all states of a deterministic automaton at once. Dead ends are kept, except empty sets.
package struct Determinizer {
    private let isUsable: [Bool]
    private let aim: RegexAim
    private var automaton: ScalarAutomaton
    private var states: [RegexStepper.State] = []
    private var indices: [RegexStepper.State: Int32] = [:]
    private var stepper: RegexStepper

    /// - Parameters:
    ///   - pattern: index of one of the program's expressions.
    ///   - isUsable: for each class, whether any of its scalars can occur.
    package init(_ program: RegexProgram, _ pattern: Int, _ aim: RegexAim = .anywhere, isUsable: [Bool]) {
        (self.isUsable, self.aim) = (isUsable, aim)
        automaton = ScalarAutomaton(classCount: program.classifier.classCount)
        stepper = RegexStepper(program, pattern, aim)
    }

    /// - Parameters:
    ///   - isMatch: receives each state and class where a match ends before the scalar.
    ///   - isWithin: called after each state, with the number of program states seen since; false gives up.
    /// - Returns: nil if given up.
    package mutating func run(
        isMatch: (_ state: Int32, _ classIndex: Int) -> Void = { _, _ in },
        isWithin: (ScalarAutomaton, _ visits: Int) -> Bool
    ) -> ScalarAutomaton? {
        automaton.start = index(of: stepper.start)
        var done: Int32 = 0
        while done < states.count {
            stepper.visits = 0
            expand(done, isMatch)
            guard isWithin(automaton, stepper.visits) else { return nil }
            done += 1
        }
        return automaton
    }

    private mutating func index(of state: RegexStepper.State) -> Int32 {
        if state.list.isEmpty { return -1 }
        if let known = indices[state] { return known }
        let end = stepper.settled(state, isUsable.count)
        let index = automaton.addState(isFinal: end.last == 0)
        indices[state] = index
        states.append(state)
        return index
    }

    private mutating func expand(_ index: Int32, _ isMatch: (Int32, Int) -> Void) {
        let state = states[Int(index)]
        if aim == .anywhere, state.isMatch {
            for i in isUsable.indices where isUsable[i] { automaton.set(index, i, index) }
            return
        }
        // Indexed by the properties of the next scalar that assertions use.
        var settled = [[Int32]?](repeating: nil, count: stepper.program.prospectCount)
        var last: (taken: [Int32], isWord: Bool, index: Int32)?
        for i in isUsable.indices where isUsable[i] {
            let prospect = stepper.program.prospects[i]
            let list = settled[prospect] ?? stepper.settled(state, i)
            settled[prospect] = list
            if list.last == 0 {
                isMatch(index, i)
                if aim == .anywhere {
                    automaton.set(index, i, self.index(of: RegexStepper.State(list: [0], before: .other)))
                    continue
                }
            }
            let taken = stepper.taken(list, i)
            let isWord = stepper.isWord(i)
            if let last, last.taken == taken, last.isWord == isWord {
                automaton.set(index, i, last.index)
                continue
            }
            let reached = self.index(of: stepper.state(after: taken, i))
            automaton.set(index, i, reached)
            last = (taken, isWord, reached)
        }
    }
}
