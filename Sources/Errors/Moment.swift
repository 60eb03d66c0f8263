/// A moment of the continuous clock with a fixed layout. The clock's own type has one known only at run time, which
/// would slow down records that are moved for each token.
package struct Moment: Sendable, Comparable {
    private static let first = ContinuousClock.now
    private let sinceFirst: Duration

    package static var now: Moment { Moment(sinceFirst: first.duration(to: .now)) }

    /// Seconds since the program's first look, whatever is done to the wall clock.
    package var seconds: Double { sinceFirst.seconds }

    package static func < (a: Moment, b: Moment) -> Bool { a.sinceFirst < b.sinceFirst }

    /// Returns the seconds from `b` to `a`.
    package static func - (a: Moment, b: Moment) -> Double { (a.sinceFirst - b.sinceFirst).seconds }
}
