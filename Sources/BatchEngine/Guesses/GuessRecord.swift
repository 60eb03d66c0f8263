/// How often guesses have held: for each kind of ground.
struct GuessRecord: Sendable {
    private var hits = Array(repeating: 0.0, count: Ground.kinds)
    private var tests = Array(repeating: 0.0, count: Ground.kinds)

    /// What is expected counts as so many tests.
    private static let expectedTests = 8.0
    /// Older tests count less: jobs change on the way.
    private static let fading = 0.99

    /// The likelihood that a token with this ground comes.
    subscript(ground: Ground) -> Double {
        let kind = ground.kind
        return (ground.expected * Self.expectedTests + hits[kind]) / (Self.expectedTests + tests[kind])
    }

    mutating func note(_ ground: Ground, holds: Bool) {
        let kind = ground.kind
        hits[kind] = hits[kind] * Self.fading + (holds ? 1 : 0)
        tests[kind] = tests[kind] * Self.fading + 1
    }
}
