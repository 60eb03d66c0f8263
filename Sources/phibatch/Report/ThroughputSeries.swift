/// Tokens over time, in cells of one width, which grows with the time span. Only cells with activity are kept, so that
/// pauses between runs cost nothing.
struct ThroughputSeries {
    /// A cell's seconds, and its tokens. A cell in which a request ran may have no tokens.
    private var width = 0.125
    private var cells: [Int: Double] = [:]
    private(set) var tokens = 0.0
    /// Seconds since 1970.
    private(set) var first = Double.infinity
    private(set) var last = 0.0
    private static let cellLimit = 4096

    var isEmpty: Bool { cells.isEmpty }

    private mutating func coarsen() {
        width *= 2
        cells = Dictionary(cells.map { ($0 >> 1, $1) }, uniquingKeysWith: +)
    }

    /// Adds tokens made evenly over `decode` seconds up to `ended`, after `prefill` seconds without any.
    ///
    /// Impossible times, as in an edited result, are ignored.
    mutating func add(tokens: Double, ended: Double, prefill: Double, decode: Double) {
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

    /// Up to 180 rates in tokens per second, each of `width` seconds, with their starts. There is none where no
    /// request ran; `busy` counts the seconds without such breaks.
    func curve() -> (width: Double, busy: Double, rates: [(start: Double, rate: Double)]) {
        var series = self
        while series.cells.count > 180 { series.coarsen() }
        let width = series.width
        let rates = series.cells.sorted { $0.key < $1.key }
            .map { (start: Double($0) * width, rate: $1 / width) }
        let breaks = zip(rates, rates.dropFirst()).reduce(0) { $0 + $1.1.start - $1.0.start - width }
        return (width, max(last - first - breaks, 0.001), rates)
    }
}
