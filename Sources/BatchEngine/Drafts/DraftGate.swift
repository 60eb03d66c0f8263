/// How many guessed rows go into a step: those that make it worth more than it costs.
struct GuessPlan: Sendable {
    /// Rows of a step beside which others are guessed at all.
    static let rowLimit = 64
    /// By how much tokens a second must rise: less is noise.
    private static let leastGain = 1.03
    /// In less time a step is over before guesses are looked up.
    private static let leastSeconds = 0.0005

    /// So many rows more are looked at to see what one costs.
    private static let steps = [1, 4]

    private(set) var costs = StepCosts()

    /// Takes note of a step.
    /// - Parameter isDecoding: all rows are of completions.
    mutating func note(rows: Int, seconds: Double, isDecoding: Bool) {
        costs.note(rows: rows, seconds: seconds, isDecoding: isDecoding)
    }

    /// Whether a step of so many rows has room for more, if they were all right.
    func hasRoom(rows: Int) -> Bool {
        guard costs.isKnown, rows < Self.rowLimit else { return false }
        let now = costs.seconds(rows: rows)
        guard now > Self.leastSeconds else { return false }
        return Self.steps.contains { more in
            costs.seconds(rows: rows + more) * Double(rows) * Self.leastGain < now * Double(rows + more)
        }
    }

    /// A guess that is less likely isn't worth a row beside so many.
    func leastLikelihood(rows: Int) -> Double {
        let now = costs.seconds(rows: rows)
        return Self.steps.reduce(1) { least, more in
            min(least, (costs.seconds(rows: rows + more) / now - 1) * Double(rows) / Double(more))
        }
    }

    /// For each of the guesses how many of its tokens are tried, beside `rows` rows that are certain; of all `most`.
    func counts(_ guesses: [Guess?], rows: Int, most: Int = rowLimit) -> [Int] {
        var counts = Array(repeating: 0, count: guesses.count)
        // The likeliest first; that puts the tokens of each guess in order, too.
        var all: [(likelihood: Double, offset: Int, place: Int)] = []
        for (place, guess) in guesses.enumerated() {
            for (offset, likelihood) in (guess?.likelihoods ?? []).enumerated() {
                all.append((likelihood, offset, place))
            }
        }
        all.sort { ($1.likelihood, $0.offset, $0.place) < ($0.likelihood, $1.offset, $1.place) }
        all.removeLast(max(0, all.count - max(0, min(most, Self.rowLimit - rows))))
        var (tokens, best, bestCount) = (Double(rows), Self.leastGain, 0)
        let now = costs.seconds(rows: rows)
        for (number, candidate) in all.enumerated() {
            tokens += candidate.likelihood
            let gain = tokens / Double(rows) * now / costs.seconds(rows: rows + number + 1)
            if gain > best { (best, bestCount) = (gain, number + 1) }
        }
        for candidate in all.prefix(bestCount) { counts[candidate.place] += 1 }
        return counts
    }
}
