/// What a step takes by the number of its rows, as far as steps so far tell.
///
/// Few rows take as long as the weights take to be read, many as long as their arithmetic. Between both,
/// sqrt(a^2 + (b rows)^2) is near enough to begin with, with the b of prompts until steps of completions show
/// theirs; what was measured counts more, the newer the more.
struct StepCosts: Sendable {
    private struct Measure {
        var seconds: Double
        /// The number of the step that it was changed by.
        var step: Int
    }
    /// For each number of rows.
    private var measures: [Int: Measure] = [:]
    /// The number of rows that was measured last.
    private var newest: Int?
    private var step = 0
    /// Seconds a row takes in steps of many rows.
    private var rowSeconds: Double?
    /// How many times as much it takes in small steps where logits are wanted of it.
    private var rowFactor = 1.0

    /// From here on arithmetic is the limit, on any machine.
    private static let many = 32
    /// A measure of so many steps ago counts half.
    private static let halfLife = 50.0

    /// Whether there is anything to go by.
    var isKnown: Bool { newest != nil }

    /// - Parameter isDecoding: logits were wanted of all rows.
    mutating func note(rows: Int, seconds: Double, isDecoding: Bool) {
        step += 1
        if rows >= Self.many {
            let perRow = seconds / Double(rows)
            rowSeconds = rowSeconds.map { $0 + 0.2 * (min(perRow, 2 * $0) - $0) } ?? perRow
        }
        guard isDecoding else { return }
        learnFactor(rows: rows, seconds: seconds)
        let old = measures[rows]
        // One step that took long, as somebody else had the processor, says little.
        let new = old.map { $0.seconds + 0.3 * (min(seconds, 2 * $0.seconds) - $0.seconds) } ?? seconds
        measures[rows] = Measure(seconds: new, step: step)
        newest = rows
    }

    /// Compares a step with the one before it, where that had another number of rows.
    private mutating func learnFactor(rows: Int, seconds: Double) {
        guard let rowSeconds, let newest, newest != rows, let last = measures[newest]?.seconds else { return }
        let square = (seconds * seconds - last * last) / Double(rows * rows - newest * newest)
        let found = max(0, square).squareRoot() / rowSeconds
        rowFactor = max(1, rowFactor + 0.1 * (min(found, 2 * rowFactor) - rowFactor))
    }

    /// Seconds for a step of so many rows, all of completions. Asked only if `isKnown`.
    func seconds(rows: Int) -> Double {
        guard let newest, let near = measures[newest] else { return 0 }
        let expected = near.seconds * shape(rows, as: near, of: newest) / shape(newest, as: near, of: newest)
        guard let measure = measures[rows] else { return expected }
        let weight = 1 / (1 + Double(step - measure.step) / Self.halfLife)
        return weight * measure.seconds + (1 - weight) * expected
    }

    /// sqrt(a^2 + (b rows)^2), where b is known and `measure` gives a.
    private func shape(_ rows: Int, as measure: Measure, of known: Int) -> Double {
        let perRow = rowSeconds.map { $0 * rowFactor } ?? measure.seconds / 4
        let (b, t) = (perRow * Double(known), measure.seconds)
        let a = max(t * t - b * b, t * t / 16)
        return (a + perRow * perRow * Double(rows * rows)).squareRoot()
    }
}
