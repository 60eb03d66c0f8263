/// Tokens that may come next in a completion.
struct Guess: Sendable {
    var tokens: [Int32] = []
    /// For each of `tokens` the likelihood that it and all before it are right.
    var likelihoods: [Double] = []
    /// For each of `tokens` what it rests on.
    var grounds: [Ground] = []
    /// How many of `tokens` are tried; the others are only compared with what comes.
    var tried = 0
}

/// What a guessed token rests on: how well the tokens before it are known, from the request itself, from what the
/// source's completions had in common, or from both.
struct Ground: Sendable, Equatable {
    /// Which kind of ground it is, below `kinds`.
    let kind: Int
    /// The likelihood that is expected before anything is known of that kind.
    let expected: Double

    static let kinds = 48
    /// For classes of matches from short to long.
    private static let expectations = [0.3, 0.45, 0.6, 0.75, 0.85, 0.93]

    /// - Parameters:
    ///   - match: how many of the tokens before it came before in the request itself.
    ///   - isDisputed: other completions went on in another way.
    init(match: Int, isDisputed: Bool) {
        let length = Self.number(match)
        kind = 2 * length + (isDisputed ? 1 : 0)
        expected = Self.expectations[length]
    }

    init(_ found: PhraseTable.Found) {
        let length = min(found.lengthNumber, 2)
        kind = 12 + 6 * length + (4 * found.times < 3 * found.all ? 0 : 3) + Self.number(of: found)
        expected = Self.expectation(of: found)
    }

    /// Both say the same.
    init(match: Int, and found: PhraseTable.Found) {
        let length = Self.number(match)
        kind = 30 + 3 * length + Self.number(of: found)
        expected = 1 - (1 - Self.expectations[length]) * (1 - Self.expectation(of: found))
    }

    /// Lengths of 2, 3, 4, 5 to 7, 8 to 15, and more.
    private static func number(_ match: Int) -> Int {
        switch match {
        case ...2: 0
        case 3...4: match - 2
        case 5...7: 3
        case 8...15: 4
        default: 5
        }
    }

    private static func number(of found: PhraseTable.Found) -> Int {
        found.all < 2 ? 0 : found.all < 4 ? 1 : 2
    }

    /// Its share, as if some more had come, most of them others.
    private static func expectation(of found: PhraseTable.Found) -> Double {
        (Double(found.times) + 0.3) / (Double(found.all) + 1.5)
    }
}
