import Regex

/// Texts that a regular expression matches as a whole, in UTF-8.
extension MachineText {
    /// - Throws: `ConstraintFault` for a pattern that is invalid, too large, or matches no text.
    package convenience init(
        whole pattern: String, _ effort: CompileEffort = CompileEffort()
    ) throws(ConstraintFault) {
        try self.init(ECMARegex(pattern, isWhole: true).parsed, effort)
    }

    /// - Throws: `ConstraintFault` for a pattern that is too large, or matches no text.
    convenience init(_ pattern: RegexPattern, _ effort: CompileEffort) throws(ConstraintFault) {
        func tooLarge() -> ConstraintFault {
            ConstraintFault(
                .tooLarge,
                effort.isUsedUp
                    ? "it \(CompileEffort.problem)"
                    : "a regular expression that takes more than \(ConstraintLimits.states) states; use a simpler one"
            )
        }
        let sizes = pattern.nodes.map { $0.stateCount ?? .max }
        guard sizes.allSatisfy({ $0 <= ConstraintLimits.patternStates }),
            let program = try? RegexProgram(pattern.nodes)
        else { throw tooLarge() }
        let alphabet = ScalarAlphabet(program.classifier, .raw)
        let isUsable = alphabet.isUsable
        guard var automaton = ScalarAutomaton(program, 0, isUsable: isUsable, effort) else {
            throw tooLarge()
        }
        for (number, ahead) in pattern.ahead.enumerated() {
            guard let own = ScalarAutomaton(program, number + 1, isUsable: isUsable, effort),
                let both = automaton.intersection(ahead.isNegated ? own.complement(isUsable) : own, effort)
            else { throw tooLarge() }
            automaton = both
        }
        guard let machine = ByteMachine(automaton, alphabet) else {
            throw ConstraintFault(.unsatisfiable, "a regular expression that matches no text")
        }
        self.init(machine)
        effort.keep(bytes: alphabet.bytes + 4 * automaton.transitions.count + bytes)
    }
}
