/// Bounds on grammars, as they too come from strangers.
enum GrammarLimits {
    /// Bytes of a grammar's text.
    static let textBytes = 1 << 18
    static let rules = 20_000
    /// Groups in groups.
    static let depth = 100
    /// How often something is repeated at most, where there is a bound.
    static let count = 10_000
    /// Symbols of all productions, once repetitions are written out.
    static let positions = 400_000
    /// Nodes of a rule that is regular, written out, up to which it becomes one automaton; and how deep they are nested.
    static let regularNodes = 20_000
    static let regularDepth = 200
    /// Bytes of a shortest text that is ever looked for.
    static let shortest = 1 << 20
    /// Items of a state beyond which an answer is brought to its end the shortest way.
    static let items = 1_024
    /// Steps in comparing two continuations, and how far it follows them; beyond, they count as different.
    static let comparisons = 200
    static let comparisonDepth = 50
    /// Items that differ only in what follows them, up to which they are compared with each other.
    static let compared = 64
    /// Items that judging one text may visit; some seconds.
    static let visits = 50_000_000
}
