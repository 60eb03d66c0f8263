import JSONSchema

/// Texts that a regular expression matches as a whole; in UTF-8, as they are.
package final class RegexText: ByteAutomaton {
    private let text: MachineText

    /// - Throws: `ConstraintFault` for a pattern that can't be used, that is too large, or that matches no text.
    package convenience init(whole pattern: String) throws(ConstraintFault) {
        let node: RegexNode
        do throws(RegexFault) {
            node = try RegexParser.parse(pattern)
        } catch {
            throw ConstraintFault(error.kind == .tooLarge ? .tooLarge : .unusable, error.description)
        }
        try self.init(node)
    }

    /// - Throws: `ConstraintFault` for an expression that is too large, or that matches no text.
    init(_ node: RegexNode, _ effort: CompileEffort = CompileEffort()) throws(ConstraintFault) {
        let whole = RegexNode.sequence([.assertion(.textStart), node, .assertion(.textEnd)])
        let tooLarge = ConstraintFault(
            .tooLarge,
            "a regular expression that takes more than \(ConstraintLimits.states) states; a simpler one would be right"
        )
        guard let size = whole.stateCount, size <= ConstraintLimits.patternStates,
            let program = try? RegexProgram([whole])
        else { throw tooLarge }
        let alphabet = ScalarAlphabet(program.classifier, .raw)
        let isUsable = alphabet.fewestBytes(classCount: program.classifier.classCount).map { $0 > 0 }
        guard let automaton = Determinizer.automaton(program, 0, isUsable: isUsable, effort) else {
            throw tooLarge
        }
        guard let machine = ByteMachine(automaton, alphabet) else {
            throw ConstraintFault(.unsatisfiable, "a regular expression that matches no text")
        }
        text = MachineText(machine)
    }

    package var start: Int32 { text.start }
    package func next(_ state: Int32, _ byte: UInt8) -> Int32 { text.next(state, byte) }
    package func isFinal(_ state: Int32) -> Bool { text.isFinal(state) }
    /// Whether a text may go on from a state.
    func goesOn(_ state: Int32) -> Bool { text.machine.goesOn(state) }
    package func fewestBytes(_ state: Int32) -> Int { text.fewestBytes(state) }
    package func isBetweenScalars(_ state: Int32) -> Bool { text.isBetweenScalars(state) }
}
