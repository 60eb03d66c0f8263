import Errors

/// The reason why a schema can't be used.
package struct SchemaFault: Error, Equatable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// A keyword's value is invalid in the draft.
        case malformed
        /// `$schema` names an unknown dialect.
        case unknownDialect
        /// A reference leads nowhere within its document.
        case unresolved
        /// A reference leads to another document; none is ever fetched.
        case remote
        /// A reference leads back to itself without going into the instance.
        case endless
        /// A regular expression that is not regular, or not supported.
        case unsupportedPattern
        /// Beyond a limit of `SchemaLimits` or `RegexLimits`.
        case tooLarge
    }

    package let kind: Reason
    /// A JSON pointer to the place as a URI fragment, like `#/properties/a/$ref`.
    package let pointer: String
    /// The error, and a valid alternative.
    package let problem: Message

    package var description: String { "the schema at \(pointer): \(problem)" }
}
