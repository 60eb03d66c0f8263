/// Bounds that keep time and memory in hand when a schema is turned into shapes. Beyond most of them keywords are left
/// to validation, and nothing is refused.
package enum ShapeLimits {
    /// Shapes of one type that a value can have.
    package static let shapes = 128
    /// Pairs of shapes that are looked at to find them.
    package static let pairs = 1_024
    /// The same for a whole schema.
    package static let allPairs = 60_000
    /// Schemas that apply to the same value within each other.
    package static let depth = 64
    /// Literals of a value times the branches of `anyOf`, `oneOf` and `allOf` that they are held against.
    package static let literalBranches = 3_000_000
    /// Pairs of branches of one `oneOf` that are looked at for values that fit both.
    package static let branchPairs = 3_000
    /// Different values that are to be written.
    package static let targets = 20_000
    /// Different automata of strings, and of numbers.
    static let texts = 4_000
    /// Members and items of all shapes together.
    package static let parts = 500_000
    /// Values of all enumerations together, and their bytes of JSON; beyond, a schema is refused.
    package static let literals = 250_000
    package static let literalBytes = 16_000_000
    /// Bytes of the shortest value of a schema, and levels of its nesting. What asks for more is left out of answers;
    /// where nothing else is left, the schema is refused.
    package static let answerBytes = 1 << 16
    package static let answerDepth = 48
    /// Members that `minProperties` asks for beside the required ones; beyond, as above.
    package static let otherMembers = 100
    /// Bytes of the shortest free name; where it takes more there are no free names.
    package static let nameBytes = 4_096
    /// Values looked at to find the shortest of each schema; beyond, a schema is refused.
    package static let countSteps = 4_000_000
    /// Schemas in schemas that are searched for a contradiction while shapes are still being told apart.
    static let emptinessDepth = 4
    /// Names that are written out to find the shortest.
    static let shortestNames = 16
    /// Goals of free names up to which each is looked at by itself.
    static let nameKinds = 8
    /// Steps of putting one instance's members into order.
    static let orderSteps = 1_000_000
    /// Values that are longer at least count as so long.
    static let bytes = 1 << 40
}
