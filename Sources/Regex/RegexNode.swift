@_exported import struct Errors.ConstraintFault

/// Syntax tree of a regular expression of any dialect. It has no groups, as no part of a match is needed.
package indirect enum RegexNode: Hashable, Sendable {
    /// One scalar of the set; an empty set matches nothing.
    case set(ScalarSet)
    case sequence([RegexNode])
    case alternatives([RegexNode])
    /// At least `min` times, and at most `max` times unless nil. Laziness is dropped if only the end of a match can
    /// show it.
    case repetition(RegexNode, min: Int, max: Int?, isLazy: Bool = false)
    case assertion(RegexAssertion)

    /// Matches the empty text.
    package static let empty = sequence([])
}

/// A pattern with lookaheads at its beginning, which matches only at the beginning of a text.
package struct RegexPattern: Sendable {
    package let node: RegexNode
    /// Expressions that must, or must not, match from the beginning of the text.
    package let ahead: [(node: RegexNode, isNegated: Bool)]

    package init(node: RegexNode, ahead: [(node: RegexNode, isNegated: Bool)] = []) {
        (self.node, self.ahead) = (node, ahead)
    }

    /// The pattern of texts that it matches as a whole.
    package var whole: RegexPattern {
        RegexPattern(node: .sequence([.assertion(.textStart), node, .assertion(.textEnd)]), ahead: ahead)
    }

    /// All its expressions, the pattern's first.
    package var nodes: [RegexNode] { [node] + ahead.map(\.node) }
}

/// Condition between two scalars.
package enum RegexAssertion: Hashable, Sendable {
    /// `^`; there is no multi-line mode.
    case textStart
    /// `\b`; `\B` if false.
    case wordBoundary(Bool)
    /// The next scalar is in the set; `atEnd` is the result at the end of the text.
    case next(ScalarSet, atEnd: Bool)

    /// `$`
    package static let textEnd = next(ScalarSet([]), atEnd: true)
}

/// Syntax and semantics of regular expressions.
package enum RegexDialect: Sendable {
    /// ECMA-262's, with Unicode, and as lenient as its annex B where that is harmless. Lookaheads are allowed at the
    /// beginning.
    case ecma
    /// The common part of Oniguruma's and Rust's that tokenizers use. Lookaheads may ask for one scalar.
    case tokenizer
}

/// Bounds of time and memory for untrusted patterns.
package enum RegexLimits {
    /// The most scalars of a pattern.
    package static let length = 65_536
    /// Nesting of groups.
    package static let depth = 100
    /// States of the automaton with counted repetitions expanded.
    package static let states = 1_000_000
    /// The same for a `Pattern`, whose deterministic automaton is built as a whole; its states, and the work for them.
    static let patternStates = 1_024
    static let searchStates = 2_048
    static let searchVisits = 20_000_000
    /// Entries of the table of sets and classes.
    static let classTable = 16_000_000
    /// States of the deterministic automaton that are kept; beyond it starts anew.
    static let cachedStates = 4_096
    /// Numbers in them and in their transitions.
    static let cachedNumbers = 250_000
    /// Automata kept for the next search.
    static let idleAutomata = 2
    /// States that searches in one instance may visit (some seconds); a longer search gives up.
    package static let visits = 30_000_000
}

extension RegexNode {
    /// Its inner nodes.
    package var parts: [RegexNode] {
        switch self {
        case .set, .assertion: []
        case .sequence(let nodes), .alternatives(let nodes): nodes
        case .repetition(let node, _, _, _): [node]
        }
    }

    /// Whether it can match the empty text.
    var canBeEmpty: Bool {
        switch self {
        case .assertion: true
        case .set: false
        case .sequence(let nodes): nodes.allSatisfy(\.canBeEmpty)
        case .alternatives(let nodes): nodes.contains(where: \.canBeEmpty)
        case .repetition(let node, let min, _, _): min == 0 || node.canBeEmpty
        }
    }
}
