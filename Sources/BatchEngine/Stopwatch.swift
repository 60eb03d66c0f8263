import Errors

/// Measures consecutive laps.
package struct Stopwatch {
    private var last = Moment.now

    package init() {}

    package mutating func start() { last = .now }

    /// Returns the seconds since the last call.
    package mutating func lap() -> Double {
        let now = Moment.now
        defer { last = now }
        return now - last
    }
}
