/// Bounds on time and memory, as schemas come from strangers. A condition beyond those of `Texts` is left to the
/// validator.
package enum ConstraintLimits {
    /// States of an expression, before it is made deterministic.
    package static let patternStates = 20_000
    /// States of a deterministic automaton, products included.
    package static let states = 10_000
    /// Its states times its classes of scalars.
    package static let transitions = 2_000_000
    /// Steps of making one deterministic; some 10 ms.
    package static let steps = 800_000
    /// Steps of compiling a whole constraint, of some 10 ns each.
    package static let allSteps = 150_000_000
    package static let allBytes = 256 << 20
    /// Patterns beyond a limit on one text, after which the rest are not tried.
    static let failedPatterns = 32
    /// Lengths times states, if a pattern and bounds on the length are combined.
    package static let lengthTable = 1_000_000
    /// Scalars of all forbidden texts together, and different ones among them.
    package static let forbiddenScalars = 10_000
    package static let forbiddenAlphabet = 300
    /// States of an automaton of numbers.
    package static let numberStates = 6_000
    /// States of a text, including those within scalars, up to which it caches steps (1 KiB each, on first use).
    static let knownRows = 16_384

    // MARK: Writing

    /// Places that one text may be at; beyond, the later ones are dropped.
    static let places = 1_024
    /// Nesting depth beyond which an answer takes the shortest way to its end. It leaves room for the levels of that way, and
    /// of one token, below the depth that the JSON reader accepts.
    static let depth = 64
    /// Bytes of forced text that are found together.
    static let forcedBytes = 256
    /// The approximate bytes of a grammar's tables. Larger ones serve the answers that have begun with them, and no new ones.
    static let writerBytes = 20 << 20
    /// Bytes of the masks of one grammar.
    static let maskBytes = 16 << 20
}
