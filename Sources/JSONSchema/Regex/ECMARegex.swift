import Synchronization

/// A compiled regular expression: ECMA-262's regular part, over Unicode scalars, searched anywhere in a text.
///
/// No text takes exponential time. It may be used from several threads.
package final class ECMARegex: Sendable {
    package let pattern: String
    /// For other users of the same syntax.
    package let node: RegexNode
    private let program: RegexProgram
    // Automata that no search is using. One is made when none is left.
    private let idle = Mutex<[LazyAutomaton]>([])

    /// - Throws: `RegexFault` for what is malformed, not regular or too large.
    package init(_ pattern: String) throws(RegexFault) {
        self.pattern = pattern
        node = try RegexParser.parse(pattern)
        program = try RegexProgram([node])
    }

    /// Its size in memory: some 16 bytes each.
    var stateCount: Int { program.states.count }

    /// Whether it matches somewhere in the text.
    /// - Parameter budget: how many states the search may visit, of `RegexLimits.visits`; what is left of it.
    /// - Returns: nil if that takes more.
    package func matches(_ text: String, budget: inout Int) -> Bool? {
        var one = idle.withLock { $0.popLast() } ?? LazyAutomaton(program)
        defer { idle.withLock { if $0.count < RegexLimits.idleAutomata { $0.append(one) } } }
        var text = text
        return text.withUTF8 { one.finds(in: $0, budget: &budget) }
    }
}
