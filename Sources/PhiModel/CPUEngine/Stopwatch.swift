/// Measures consecutive laps.
struct Stopwatch {
    private var last = ContinuousClock.now

    mutating func start() { last = .now }

    /// Seconds since the last call.
    mutating func lap() -> Double {
        let now = ContinuousClock.now
        defer { last = now }
        return (now - last).seconds
    }
}
