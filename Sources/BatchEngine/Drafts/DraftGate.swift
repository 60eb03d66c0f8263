/// Gate for draft tokens: it is open as long as their rows cost less than they bring.
///
/// Few rows take as long as reading the weights, many as long as their arithmetic: seconds² = a + b rows² is fitted to the
/// latest passes, each by its relative error.
struct DraftGate: Sendable {
    /// Rows of a pass beside which others are drafted at all.
    static let rowLimit = 64
    /// In less time a pass is over before drafts are looked up.
    private static let leastSeconds = 0.0005
    /// A pass of 50 passes ago counts half.
    private static let fading = 0.986

    // Sums over passes, where x is rows² and y is seconds².
    private var (weight, x, y, xx, xy) = (0.0, 0.0, 0.0, 0.0, 0.0)
    private var (a, b) = (0.0, 0.0)

    mutating func note(rows: Int, seconds: Double) {
        // One pass that took long, as somebody else had the processor, says little.
        let seconds = weight > 0 ? min(seconds, 2 * self.seconds(rows)) : seconds
        let (square, result) = (Double(rows * rows), seconds * seconds)
        guard result > 0 else { return }
        let own = 1 / (result * result)
        (weight, x, y) = (
            weight * Self.fading + own, x * Self.fading + own * square, y * Self.fading + own * result
        )
        (xx, xy) = (xx * Self.fading + own * square * square, xy * Self.fading + own * square * result)
        let spread = weight * xx - x * x
        // Passes of one size say nothing of what a row costs: in time it is tried again.
        b = spread > 1e-3 * weight * xx ? max(0, (weight * xy - x * y) / spread) : 0.998 * b
        a = max(0, (y - b * x) / weight)
    }

    private func seconds(_ rows: Int) -> Double { (a + b * Double(rows * rows)).squareRoot() }

    /// The likelihood from which on one more row brings more than it costs.
    /// - Parameter tokens: that the rows are expected to bring.
    func least(rows: Int, tokens: Double) -> Double {
        let now = seconds(rows)
        guard weight > 0, rows < Self.rowLimit, now > Self.leastSeconds else { return 1 }
        return 1.03 * tokens * (seconds(rows + 1) / now - 1)
    }
}
