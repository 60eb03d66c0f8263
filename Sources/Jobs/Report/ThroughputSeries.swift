/// Tokens by the time at which they were made: counts in cells of one width, which grows with the time that they
/// span. What is kept are the cells in which something was going on, so that breaks between runs cost nothing.
package struct ThroughputSeries: Sendable {
    private struct Cells {
        /// Seconds.
        var width = 0.125
        /// By the time over the width; a request was running in each, if it may have made no token.
        var tokens: [Int: Double] = [:]

        mutating func coarsen() {
            width *= 2
            var wider: [Int: Double] = [:]
            for (number, tokens) in tokens { wider[number >> 1, default: 0] += tokens }
            tokens = wider
        }
    }

    private var cells = Cells()
    package private(set) var tokens = 0.0
    /// Seconds since 1970.
    package private(set) var first = Double.infinity
    package private(set) var last = 0.0
    private static let cellLimit = 4096

    package init() {}

    package var isEmpty: Bool { cells.tokens.isEmpty }

    /// Tokens that were made evenly over `decode` seconds up to `ended`, after `prefill` seconds without any.
    ///
    /// Times that can't be, such as an edited result may have, are left out.
    package mutating func add(tokens: Double, ended: Double, prefill: Double, decode: Double) {
        let days = 366.0 * 86_400
        guard 0..<1e11 ~= ended, 0..<days ~= prefill, 0..<days ~= decode, tokens >= 0, tokens.isFinite else {
            return
        }
        let (began, decoding) = (ended - decode - prefill, ended - decode)
        while Int((ended - began) / cells.width) > Self.cellLimit { cells.coarsen() }
        self.tokens += tokens
        first = min(first, began)
        last = max(last, ended)
        let width = cells.width
        for number in Self.cell(began, width)...Self.cell(ended, width) {
            let start = max(decoding, Double(number) * width)
            let share = min(ended, Double(number + 1) * width) - start
            cells.tokens[number, default: 0] += decode > 0 ? tokens * max(0, share) / decode : 0
        }
        if decode == 0 { cells.tokens[Self.cell(ended, width), default: 0] += tokens }
        while cells.tokens.count > Self.cellLimit { cells.coarsen() }
    }

    private static func cell(_ time: Double, _ width: Double) -> Int { Int((time / width).rounded(.down)) }

    /// A part of the time between two breaks.
    package struct Part: Sendable, Equatable {
        /// Seconds since 1970.
        package var start: Double
        /// Tokens a second, of one stretch of `width` after the other.
        package var rates: [Double]
    }

    package struct Curve: Sendable, Equatable {
        /// Seconds of each rate.
        package var width: Double
        package var parts: [Part]
        /// Seconds without the breaks.
        package var busy: Double
    }

    /// Up to `most` rates, less those of short times in which nothing ran. Where nothing ran for more than two
    /// stretches and for five seconds at least, there is a break.
    package func curve(most: Int = 180) -> Curve {
        var cells = cells
        while cells.tokens.count > most { cells.coarsen() }
        let width = cells.width
        let longest = max(2, Int(5 / width))
        var curve = Curve(width: width, parts: [], busy: max(0, last - first))
        var previous: Int?
        for (number, tokens) in cells.tokens.sorted(by: { $0.key < $1.key }) {
            let missing = previous.map { number - $0 - 1 } ?? .max
            if missing > longest {
                if previous != nil { curve.busy -= Double(missing) * width }
                curve.parts.append(Part(start: Double(number) * width, rates: []))
            } else {
                curve.parts[curve.parts.count - 1].rates += repeatElement(0, count: missing)
            }
            curve.parts[curve.parts.count - 1].rates.append(tokens / width)
            previous = number
        }
        curve.busy = max(curve.busy, 0.001)
        return curve
    }
}
