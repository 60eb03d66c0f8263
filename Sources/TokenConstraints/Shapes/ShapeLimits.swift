/// Bounds on time and memory of making shapes from a schema. Beyond most of them keywords are left to validation,
/// without an error.
package enum ShapeLimits {
    /// Shapes of one type that a value can have.
    package static let shapes = 128
    /// Pairs of shapes compared to find them.
    package static let pairs = 1_024
    /// The same for a whole schema.
    package static let allPairs = 60_000
    /// Nested schemas that apply to the same value.
    package static let depth = 64
    /// Literals of a value times the branches of `anyOf`, `oneOf` and `allOf` that they are checked against.
    package static let literalBranches = 3_000_000
    /// Pairs of branches of one `oneOf` that are checked for common values.
    package static let branchPairs = 3_000
    /// Different values to write.
    package static let targets = 20_000
    /// Different automata of strings, and of numbers.
    static let texts = 4_000
    /// Members and items of all shapes together.
    package static let parts = 500_000
    /// Values of all enumerations together, and their bytes of JSON; beyond, a schema is an error.
    package static let literals = 250_000
    package static let literalBytes = 16_000_000
    /// Bytes of the shortest value of a schema, and levels of its nesting. Longer values are left out of answers; if
    /// there are no others, the schema is an error.
    package static let answerBytes = 1 << 16
    package static let answerDepth = 48
    /// Members that `minProperties` needs besides the required ones; beyond, as above.
    package static let otherMembers = 100
    /// Bytes of the shortest free name; beyond, there are no free names.
    package static let nameBytes = 4_096
    /// Values visited to find the shortest of each schema; beyond, a schema is an error.
    package static let countSteps = 4_000_000
    /// Nested schemas that are searched for an early contradiction.
    static let emptinessDepth = 4
    /// Names that are listed to find the shortest.
    static let shortestNames = 16
    /// Targets of free names up to which each is counted alone.
    static let nameKinds = 8
    /// Steps of ordering one instance's members.
    static let orderSteps = 1_000_000
    /// Longer values count as so long.
    static let bytes = 1 << 40
}
