import BatchEngine
import JSONSchema

/// What answers must look like, compiled for one vocabulary. Requests share it; each has a constraint of its own.
package final class AnswerGrammar: Sendable {
    /// How JSON is laid out.
    package enum Layout: Hashable, Sendable {
        /// No white space at all.
        case compact
        /// Each member and item on a line of its own, so many spaces deeper than what holds it; as Python's
        /// `json.dumps(value, indent: n)` writes.
        case indented(Int)
    }

    /// The keywords that masks don't decide, or not wholly: they must be checked on the finished answer.
    package let validated: [SchemaMention]
    /// The least max_tokens under which there is any answer.
    package let leastTokens: Int

    /// JSON values that a schema accepts.
    /// - Throws: `ConstraintFault`.
    package init(_ schema: Schema, layout: Layout = .compact, tokens: TokenTrie) throws(ConstraintFault) {
        throw ConstraintFault(.unusable, "not built yet")
    }

    /// Texts that a regular expression matches as a whole.
    /// - Throws: `ConstraintFault`.
    package init(regex: String, tokens: TokenTrie) throws(ConstraintFault) {
        throw ConstraintFault(.unusable, "not built yet")
    }

    /// Before the first token of a completion.
    /// - Parameter maxTokens: of the completion, the end of sequence not counted; at least `leastTokens`.
    package func constraint(maxTokens: Int) -> any Constraint {
        preconditionFailure("not built yet")
    }
}
