/// What a regular expression's text says. Groups are gone: no part of a match is ever asked for.
package indirect enum RegexNode: Hashable, Sendable {
    /// Matches the empty text.
    case empty
    /// One scalar of the set; an empty set matches nothing.
    case set(ScalarRanges)
    case sequence([RegexNode])
    case alternatives([RegexNode])
    /// At least `min` times, and at most `max` times if there is a `max`. Whether it was greedy is left out, as it
    /// makes no difference to what matches.
    case repetition(RegexNode, min: Int, max: Int?)
    case assertion(RegexAssertion)
}

/// A pattern, and what else the text must match, or must not: lookaheads at the beginning of a pattern that matches
/// nowhere else.
package struct RegexPattern: Sendable {
    package let node: RegexNode
    package let ahead: [Lookahead]

    package init(node: RegexNode, ahead: [Lookahead]) { (self.node, self.ahead) = (node, ahead) }

    package struct Lookahead: Sendable {
        /// Matches from the beginning of the text.
        package let node: RegexNode
        package let isNegated: Bool
    }

    /// The texts that it matches as a whole.
    package var whole: RegexPattern {
        RegexPattern(
            node: .sequence([.assertion(.textStart), node, .assertion(.textEnd)]), ahead: ahead)
    }

    /// All its expressions, that of the pattern first.
    package var nodes: [RegexNode] { [node] + ahead.map(\.node) }
}

/// What is asked of a place between two scalars.
package enum RegexAssertion: UInt8, Hashable, Sendable {
    /// `^`; JSON Schema has no multi-line mode.
    case textStart
    /// `$`
    case textEnd
    /// `\b`
    case wordBoundary
    /// `\B`
    case noWordBoundary
}

/// Why a regular expression can't be used.
package struct RegexFault: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Kind: Equatable, Sendable {
        /// ECMA-262 doesn't allow it.
        case malformed
        /// ECMA-262 allows it, but it is not regular, or not known here.
        case unsupported
        /// Beyond a limit of `RegexLimits`.
        case tooLarge
    }

    package let kind: Kind
    /// What is wrong, without the place.
    package let message: String
    /// Scalars before the place; nil if the whole pattern is meant.
    package let offset: Int?

    package var description: String { offset.map { "\(message) at character \($0 + 1)" } ?? message }
}

/// Bounds that keep time and memory in hand, as patterns come from strangers.
package enum RegexLimits {
    /// Scalars of a pattern.
    package static let length = 65_536
    /// Groups in groups.
    package static let depth = 100
    /// States of the automaton after counted repetitions are written out.
    package static let states = 1_000_000
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
