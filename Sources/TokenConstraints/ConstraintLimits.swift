/// Bounds that keep time and memory in hand, as schemas come from strangers. A condition that goes beyond one of
/// `Texts` is left to the validator.
package enum ConstraintLimits {
    /// States of an expression written out, before it is made deterministic.
    package static let patternStates = 20_000
    /// States of a deterministic automaton, products included.
    package static let states = 10_000
    /// Its states times the classes of scalars it tells apart.
    package static let transitions = 2_000_000
    /// Steps in making one deterministic; some 10 ms.
    package static let steps = 800_000
    /// Steps of compiling a whole form, of some 10 ns each.
    package static let allSteps = 150_000_000
    package static let allBytes = 256 << 20
    /// Patterns on one text that were too much; the others are not tried any more.
    static let failedPatterns = 32
    /// Lengths times states, where a pattern and bounds on the length must be kept together.
    package static let lengthTable = 1_000_000
    /// Scalars of all forbidden texts together, and different ones among them.
    package static let forbiddenScalars = 10_000
    package static let forbiddenAlphabet = 300
    /// States of an automaton of numbers.
    package static let numberStates = 6_000
    /// States of a text, those within scalars included, up to which it keeps what it was asked (1 KiB each, when first
    /// asked).
    static let knownRows = 16_384
    /// Forbidden numbers.
    package static let forbiddenNumbers = 64
}
