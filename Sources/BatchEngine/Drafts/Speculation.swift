/// Whether tokens are guessed ahead of the model, and checked by it in one step. Results don't depend on it.
package enum Speculation: Sendable, Equatable {
    case off
    /// Where a step with some rows more takes little longer, and the guesses are likely to hold.
    case auto
    /// As many tokens of each completion as can be guessed, up to so many, whatever it costs. For measurements and
    /// tests.
    case always(Int)

    /// The most tokens that are guessed of one completion in one step.
    package static let limit = 24
}
