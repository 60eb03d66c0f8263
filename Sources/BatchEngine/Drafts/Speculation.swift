/// Whether draft tokens are proposed and checked in one pass. Results don't depend on it.
package enum Speculation: Sendable, Equatable {
    case off
    /// If a pass with some rows more takes little longer, and the draft tokens are likely to be accepted.
    case auto
    /// As many draft tokens of each completion as there are, up to so many, whatever they cost. For measurements and
    /// tests.
    case always(Int)

    /// The most draft tokens of one completion in one pass.
    package static let limit = 24
}
