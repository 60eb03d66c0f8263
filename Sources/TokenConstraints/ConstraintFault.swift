/// The reason why a schema, regular expression or grammar has no answers.
package struct ConstraintFault: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// No value satisfies it.
        case unsatisfiable
        /// Beyond a limit of `ConstraintLimits`.
        case tooLarge
        /// It is malformed or unsupported.
        case unusable
    }

    package let kind: Reason
    /// The place in a schema, as a URI fragment like `#/properties/a`; nil for none.
    package let pointer: String?
    /// The error, and a valid alternative.
    package let problem: String

    package init(_ kind: Reason, at pointer: String? = nil, _ problem: String) {
        self.kind = kind
        self.pointer = pointer
        self.problem = problem
    }

    package var description: String { pointer.map { "\($0): \(problem)" } ?? problem }
}
