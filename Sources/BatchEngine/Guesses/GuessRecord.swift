/// How often guesses have held: for each length of the match that they rest on.
struct GuessRecord: Sendable {
    private var hits = Array(repeating: 0.0, count: Self.classes)
    private var tests = Array(repeating: 0.0, count: Self.classes)

    private static let classes = 6
    /// What is expected before anything is known, as so many tests.
    private static let expected = [0.3, 0.45, 0.6, 0.75, 0.85, 0.93]
    private static let expectedTests = 8.0
    /// Older tests count less: jobs change on the way.
    private static let fading = 0.99

    /// Lengths of 2, 3, 4, 5 to 7, 8 to 15, and more.
    private static func number(_ length: Int) -> Int {
        switch length {
        case ...2: 0
        case 3...4: length - 2
        case 5...7: 3
        case 8...15: 4
        default: 5
        }
    }

    /// The likelihood that the token after a match of this length comes again.
    subscript(length: Int) -> Double {
        let at = Self.number(length)
        return (Self.expected[at] * Self.expectedTests + hits[at]) / (Self.expectedTests + tests[at])
    }

    mutating func note(length: Int, holds: Bool) {
        let at = Self.number(length)
        hits[at] = hits[at] * Self.fading + (holds ? 1 : 0)
        tests[at] = tests[at] * Self.fading + 1
    }
}
