import FoundationShim

/// A compiled regular expression: the regular part of ECMA-262, over Unicode scalars, searched anywhere in a text.
/// Lookaheads are allowed at its beginning, after `^`.
///
/// No text takes exponential time. Safe to use from several threads.
package final class ECMARegex: Sendable {
    package let pattern: String
    /// For other users of the same syntax.
    package let parsed: RegexPattern
    package var node: RegexNode { parsed.node }
    private let program: RegexProgram
    // Idle automata by expression. A new one is made when none is left.
    private let idle = Mutex<[[LazyAutomaton]]>([])

    /// - Parameter isWhole: whether it must match the whole text.
    /// - Throws: `ConstraintFault` if it is malformed, not regular or too large.
    package init(_ pattern: String, isWhole: Bool = false) throws(ConstraintFault) {
        self.pattern = pattern
        let parsed = try RegexParser.parse(pattern, isWhole: isWhole)
        self.parsed = isWhole ? parsed.whole : parsed
        program = try RegexProgram(self.parsed.nodes)
    }

    /// Number of states, of some 16 bytes each.
    package var stateCount: Int { program.states.count }

    /// Whether it matches somewhere in the text.
    /// - Parameter budget: states that the search may visit, of `RegexLimits.visits`; reduced by those it has.
    /// - Returns: nil if the budget is too small.
    package func matches(_ text: String, budget: inout Int) -> Bool? {
        var automata =
            idle.withLock { $0.popLast() } ?? program.starts.indices.map { LazyAutomaton(program, $0) }
        defer { idle.withLock { if $0.count < RegexLimits.idleAutomata { $0.append(automata) } } }
        var text = text
        return text.withUTF8 { text in
            for number in automata.indices {
                guard let found = automata[number].finds(in: text, budget: &budget) else { return nil }
                if found == (number > 0 && parsed.ahead[number - 1].isNegated) { return false }
            }
            return true
        }
    }
}

/// Two are equal if they are one object.
extension ECMARegex: Hashable {
    package static func == (a: ECMARegex, b: ECMARegex) -> Bool { a === b }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
