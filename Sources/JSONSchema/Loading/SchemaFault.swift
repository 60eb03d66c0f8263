import Errors

/// Reason why a schema can't be used.
package struct SchemaFault: ExplainedError, Equatable {
    package enum Kind: Equatable, Sendable {
        /// A keyword's value is not what the draft says it must be.
        case malformed
        /// `$schema` names a dialect that is not known.
        case unknownDialect
        /// A reference leads nowhere within its document.
        case unresolved
        /// A reference leads to another document; none is ever fetched.
        case remote
        /// A reference leads back to itself without going into the instance.
        case endless
        /// A regular expression that is not regular, or not known.
        case unsupportedPattern
        /// Beyond a limit of `SchemaLimits` or `RegexLimits`.
        case tooLarge
    }

    package let kind: Kind
    /// A JSON pointer to the place as a URI fragment, like `#/properties/a/$ref`.
    package let pointer: String
    /// What is wrong and what would be right.
    package let problem: Message

    package var explanation: Message { "the schema at \(pointer): \(problem)" }
}
