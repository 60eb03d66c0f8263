/// Bounds on grammars, as they too come from strangers.
enum GrammarLimits {
    /// Bytes of a grammar's text.
    static let textBytes = 1 << 18
    static let rules = 20_000
    /// Nested groups.
    static let depth = 100
    /// The largest bound of a repetition.
    static let count = 10_000
    /// Symbols of all productions, with repetitions expanded.
    static let positions = 400_000
    /// Nodes of a regular rule, expanded, up to which it becomes one automaton; and their nesting.
    static let regularNodes = 20_000
    static let regularDepth = 200
    /// Bytes of a shortest text that is searched.
    static let shortest = 1 << 20
    /// Items of a state beyond which an answer ends the shortest way.
    static let items = 1_024
    /// Steps and depth of comparing two continuations; beyond, they count as different.
    static let comparisons = 200
    static let comparisonDepth = 50
    /// Items that differ only in what follows them, up to which they are compared.
    static let compared = 64
    /// Items visited to judge one text; some seconds.
    static let visits = 50_000_000
}
