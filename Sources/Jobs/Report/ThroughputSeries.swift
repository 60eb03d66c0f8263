/// Tokens over time, in cells of one width, which grows with the time span. Only cells with activity are kept, so that
/// pauses between runs cost nothing.
package struct ThroughputSeries: Sendable {
    /// A cell's seconds, and its tokens. A cell in which a request ran may have no tokens.
    private var width = 0.125
    private var cells: [Int: Double] = [:]
    package private(set) var tokens = 0.0
    /// Seconds since 1970.
    package private(set) var first = Double.infinity
    package private(set) var last = 0.0
    private static let cellLimit = 4096

    package init() {}

    package var isEmpty: Bool { cells.isEmpty }

    private mutating func coarsen() {
        width *= 2
        cells = Dictionary(cells.map { ($0 >> 1, $1) }, uniquingKeysWith: +)
    }

    /// Adds tokens made evenly over `decode` seconds up to `ended`, after `prefill` seconds without any.
    ///
    /// Impossible times, as in an edited result, are ignored.
    package mutating func add(tokens: Double, ended: Double, prefill: Double, decode: Double) {
        let days = 366.0 * 86_400
        guard 0..<1e11 ~= ended, 0..<days ~= prefill, 0..<days ~= decode, tokens >= 0, tokens.isFinite else {
            return
        }
        let (began, decoding) = (ended - decode - prefill, ended - decode)
        while Int((ended - began) / width) > Self.cellLimit { coarsen() }
        self.tokens += tokens
        first = min(first, began)
        last = max(last, ended)
        for number in cell(began)...cell(ended) {
            let start = max(decoding, Double(number) * width)
            let share = min(ended, Double(number + 1) * width) - start
            cells[number, default: 0] += decode > 0 ? tokens * max(0, share) / decode : 0
        }
        if decode == 0 { cells[cell(ended), default: 0] += tokens }
        while cells.count > Self.cellLimit { coarsen() }
    }

    private func cell(_ time: Double) -> Int { Int((time / width).rounded(.down)) }

    /// Up to `most` rates in tokens per second, each of `width` seconds, in parts with their starts. A pause is longer
    /// than two stretches and five seconds; `busy` counts the seconds without pauses.
    package func curve(
        most: Int = 180
    ) -> (width: Double, busy: Double, parts: [(start: Double, rates: [Double])]) {
        var series = self
        while series.cells.count > most { series.coarsen() }
        let width = series.width
        var (busy, parts) = (max(0, last - first), [(start: Double, rates: [Double])]())
        var previous: Int?
        for (number, tokens) in series.cells.sorted(by: { $0.key < $1.key }) {
            let missing = previous.map { number - $0 - 1 } ?? .max
            if missing > max(2, Int(5 / width)) {
                if previous != nil { busy -= Double(missing) * width }
                parts.append((Double(number) * width, []))
            } else {
                parts[parts.count - 1].rates += repeatElement(0, count: missing)
            }
            parts[parts.count - 1].rates.append(tokens / width)
            previous = number
        }
        return (width, max(busy, 0.001), parts)
    }
}
