import Regex

/// JSON numbers under conditions, as a table.
final class NumberText: ByteAutomaton {
    // Columns: the digits, '-', '+', '.', and the exponent's letter.
    static let columns = 14

    private static let columnOfByte: [Int8] = {
        var columns = [Int8](repeating: -1, count: 256)
        for digit in 0..<10 { columns[0x30 + digit] = Int8(digit) }
        columns[0x2D] = 10
        columns[0x2B] = 11
        columns[0x2E] = 12
        columns[0x65] = 13
        columns[0x45] = 13
        return columns
    }()

    private let automaton: ScalarAutomaton
    private let fewest: [Int32]
    private let columnOfByte = NumberText.columnOfByte

    /// Texts with at most a condition on the sign, which are frequent.
    private static let known = Memo<NumberConditions, NumberText?>()

    private init?(_ rules: NumberConditions) {
        var walk = NumberWalk(rules)
        guard var automaton = walk.automaton() else { return nil }
        fewest = automaton.trim([Int32](repeating: 1, count: Self.columns))
        guard automaton.start >= 0 else { return nil }
        self.automaton = automaton
    }

    /// - Returns: nil if it would have no text, or takes too much.
    static func make(_ rules: NumberConditions, _ effort: CompileEffort) -> NumberText? {
        guard rules.isPlain else {
            if effort.isUsedUp { return nil }
            let text = NumberText(rules)
            effort.spend(64 * (text?.automaton.count ?? ConstraintLimits.numberStates))
            return text
        }
        // Every integer is a multiple of its divisors.
        var key = rules
        key.multiples = []
        return known.value(of: key) { NumberText(key) }
    }

    var start: Int32 { automaton.start }

    func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        let column = columnOfByte[Int(byte)]
        return column < 0 ? -1 : automaton.next(Int(state), Int(column))
    }

    func isFinal(_ state: Int32) -> Bool { automaton.isFinal[Int(state)] }
    func fewestBytes(_ state: Int32) -> Int { Int(fewest[Int(state)]) }
    func isBetweenScalars(_ state: Int32) -> Bool { true }
}
