/// Speculation: draft tokens that the model checks in one pass.
public enum Speculation: Sendable, Equatable {
    /// If a pass with some rows more takes little longer, and the draft tokens are likely to be accepted.
    case auto
    case off
    /// At most so many of each completion in each pass, at any cost; 1 ... 24.
    case tokens(Int)

    /// Draft tokens of one completion in one pass.
    package static let range = 1...24
}
