/// Syntax tree of a regular expression of whatever dialect. Groups are gone: no part of a match is ever asked for.
package indirect enum RegexNode: Hashable, Sendable {
    /// Matches the empty text.
    case empty
    /// One scalar of the set; an empty set matches nothing.
    case set(ScalarSet)
    case sequence([RegexNode])
    case alternatives([RegexNode])
    /// At least `min` times, and at most `max` times if there is a `max`. Laziness is left out where it makes no
    /// difference, as only the end of a match tells.
    case repetition(RegexNode, min: Int, max: Int?, isLazy: Bool = false)
    case assertion(RegexAssertion)
}

/// A pattern, and what else the text must match, or must not: lookaheads at the beginning of a pattern that matches
/// nowhere else.
package struct RegexPattern: Sendable {
    package let node: RegexNode
    /// Expressions that match from the beginning of the text, or do not.
    package let ahead: [(node: RegexNode, isNegated: Bool)]

    package init(node: RegexNode, ahead: [(node: RegexNode, isNegated: Bool)] = []) {
        (self.node, self.ahead) = (node, ahead)
    }

    /// The texts that it matches as a whole.
    package var whole: RegexPattern {
        RegexPattern(node: .sequence([.assertion(.textStart), node, .assertion(.textEnd)]), ahead: ahead)
    }

    /// All its expressions, that of the pattern first.
    package var nodes: [RegexNode] { [node] + ahead.map(\.node) }
}

/// Condition on a place between two scalars.
package enum RegexAssertion: Hashable, Sendable {
    /// `^`; there is no multi-line mode.
    case textStart
    /// `\b`; `\B` where it is none.
    case wordBoundary(Bool)
    /// The next scalar is of the set; at the end of the text it holds or not.
    case next(ScalarSet, atEnd: Bool)

    /// `$`
    package static let textEnd = next(ScalarSet([]), atEnd: true)
}

/// Spelling and meaning of regular expressions.
package enum RegexDialect: Sendable {
    /// ECMA-262's, with Unicode, and as lenient as its annex B where that is harmless. Lookaheads may stand at the
    /// beginning.
    case ecma
    /// Oniguruma's and Rust's, as far as tokenizers use them and both mean the same. Lookaheads may ask for one scalar.
    case tokenizer
}

/// Why a regular expression can't be used.
package struct RegexFault: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Kind: Equatable, Sendable {
        /// The dialect doesn't allow it.
        case malformed
        /// The dialect allows it, but it is not regular, or not known here.
        case unsupported
        /// Beyond a limit of `RegexLimits`.
        case tooLarge
    }

    package let kind: Kind
    /// What is wrong, without the place.
    package let message: String
    /// Scalars before the place; nil if the whole pattern is meant.
    package let offset: Int?

    package init(kind: Kind, message: String, offset: Int?) {
        (self.kind, self.message, self.offset) = (kind, message, offset)
    }

    package var description: String { offset.map { "\(message) at character \($0 + 1)" } ?? message }
}

/// Bounds that keep time and memory in hand, as patterns come from strangers.
package enum RegexLimits {
    /// Most scalars that a pattern has.
    package static let length = 65_536
    /// Groups in groups.
    package static let depth = 100
    /// States of the automaton after counted repetitions are written out.
    package static let states = 1_000_000
    /// The same of a `Pattern`, whose deterministic automaton is made as a whole; its states, and the work for them.
    static let patternStates = 1_024
    static let searchStates = 2_048
    static let searchVisits = 20_000_000
    /// Entries of the table that says which set holds which class of scalars.
    static let classTable = 16_000_000
    /// Kept states of the deterministic automaton; beyond, it begins anew.
    static let cachedStates = 4_096
    /// Numbers kept in them, and in their transitions.
    static let cachedNumbers = 250_000
    /// Such automata that are kept for the next search.
    static let idleAutomata = 2
    /// States that searches in one instance may visit (some seconds); a search that would visit more gives up.
    package static let visits = 30_000_000
}

extension RegexNode {
    /// Whether it can match without taking a scalar.
    var canBeEmpty: Bool {
        switch self {
        case .empty, .assertion: true
        case .set: false
        case .sequence(let nodes): nodes.allSatisfy(\.canBeEmpty)
        case .alternatives(let nodes): nodes.contains(where: \.canBeEmpty)
        case .repetition(let node, let min, _, _): min == 0 || node.canBeEmpty
        }
    }
}
