/// A moment of the continuous clock. The clock's own has a layout that is only known at run time, and so would all that
/// holds one: records that are read and moved for each token.
package struct Moment: Sendable, Comparable {
    private static let first = ContinuousClock.now
    private let sinceFirst: Duration

    package static var now: Moment { Moment(sinceFirst: first.duration(to: .now)) }

    package static func < (a: Moment, b: Moment) -> Bool { a.sinceFirst < b.sinceFirst }

    /// Seconds from `b` to `a`.
    package static func - (a: Moment, b: Moment) -> Double { (a.sinceFirst - b.sinceFirst).seconds }
}
