/// Why nothing can be generated under a schema or a regular expression.
package struct ConstraintFault: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Kind: Equatable, Sendable {
        /// No value satisfies it.
        case unsatisfiable
        /// Beyond a limit of `ConstraintLimits`.
        case tooLarge
        /// It can't be used: malformed, or not known here.
        case unusable
    }

    package let kind: Kind
    /// Where in a schema, as a URI fragment like `#/properties/a`; nil if there is no place to name.
    package let pointer: String?
    /// What is wrong, and what would be right.
    package let problem: String

    package init(_ kind: Kind, at pointer: String? = nil, _ problem: String) {
        self.kind = kind
        self.pointer = pointer
        self.problem = problem
    }

    package var description: String { pointer.map { "\($0): \(problem)" } ?? problem }
}
