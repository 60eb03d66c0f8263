import FoundationShim

/// Extremes, mean, percentiles and a histogram of values, in constant memory.
///
/// Values are counted with three significant digits, so percentiles are within 0.5%. Extremes and mean are exact.
package struct Distribution: Sendable, Equatable {
    package private(set) var count = 0
    package private(set) var minimum = Double.infinity
    package private(set) var maximum = -Double.infinity
    private var sum = 0.0
    private let isSigned: Bool
    /// The frequency of each value, rounded.
    private var counts: [Double: Int] = [:]

    /// - Parameter isSigned: whether negative values count.
    package init(isSigned: Bool = false) { self.isSigned = isSigned }

    package var mean: Double { count > 0 ? sum / Double(count) : 0 }

    /// Adds a value. One that is no amount, as in an edited result, is ignored.
    package mutating func add(_ value: Double) {
        guard value >= 0 || isSigned, abs(value) < 1e300 else { return }
        count += 1
        sum += value
        minimum = min(minimum, value)
        maximum = max(maximum, value)
        counts[Self.rounded(value), default: 0] += 1
    }

    private static func rounded(_ value: Double) -> Double {
        guard abs(value) >= 1e-9 else { return 0 }
        let places = 2 - log10(abs(value)).rounded(.down)
        let scale = pow(10, abs(places))
        // Whole powers of ten make the result the nearest to its decimal digits.
        return places > 0 ? (value * scale).rounded() / scale : (value / scale).rounded() * scale
    }

    /// Values in ascending order, with their frequencies.
    private var weighted: [(value: Double, count: Int)] {
        counts.sorted { $0.key < $1.key }.map { (min(max($0, minimum), maximum), $1) }
    }

    /// Returns the least values that so many percent don't exceed (nearest rank); none if there are no values.
    package func percentiles(_ percents: [Double]) -> [Double] {
        guard count > 0 else { return [] }
        let weighted = weighted
        return percents.map { percent in
            let rank = min(count, max(1, Int((percent / 100 * Double(count)).rounded(.up))))
            if rank == count { return maximum }
            var seen = 0
            for (value, count) in weighted {
                seen += count
                if seen >= rank { return value }
            }
            return maximum
        }
    }

    package struct Bin: Sendable, Equatable {
        /// The least value, and the bound above all values.
        package var range: Range<Double>
        package var count: Int
    }

    /// Counts of values between round edges; logarithmic if the range is too wide for bins of one width.
    /// - Parameter areWhole: whether values, and so edges, are whole numbers.
    package func histogram(areWhole: Bool) -> (bins: [Bin], isLogarithmic: Bool) {
        guard count > 0 else { return ([], false) }
        let isLogarithmic =
            minimum >= 0 && maximum > 20 * percentiles([90])[0] && maximum > (areWhole ? 50 : 0.05)
        let edges = isLogarithmic ? risingEdges(areWhole) : evenEdges(areWhole)
        var counts = [Int](repeating: 0, count: edges.count - 1)
        var place = 0
        for (value, count) in weighted {
            while place < counts.count - 1, value >= edges[place + 1] { place += 1 }
            counts[place] += count
        }
        return (
            counts.indices.map { Bin(range: edges[$0]..<edges[$0 + 1], count: counts[$0]) }, isLogarithmic
        )
    }

    /// 1, 2 and 5 times powers of ten, ascending.
    private static let roundNumbers = (-9...300).flatMap { power in
        [1, 2, 5].map { Double("\($0)e\(power)") ?? 0 }
    }

    private static func roundNumber(atLeast value: Double) -> Int {
        roundNumbers.firstIndex { $0 >= value * 0.999_999 } ?? roundNumbers.count - 1
    }

    /// Up to some thirty bins of a round width; fewer for few values.
    private func evenEdges(_ areWhole: Bool) -> [Double] {
        let most = min(30, max(8, 2 * Double(count).squareRoot()))
        let least = max((maximum - minimum) / most, areWhole ? 1 : max(maximum, -minimum, 0.001) / 1000)
        let width = Self.roundNumbers[Self.roundNumber(atLeast: least)]
        let first = (minimum / width).rounded(.down)
        let last = (maximum / width).rounded(.down) + 1
        // A quotient of whole numbers is nearest to the decimal one.
        return (0...Int(last - first)).map {
            width < 1 ? (first + Double($0)) / (1 / width).rounded() : (first + Double($0)) * width
        }
    }

    private func risingEdges(_ areWhole: Bool) -> [Double] {
        let start = max(percentiles([1])[0], maximum / 1e6, areWhole ? 1 : 0.001)
        let rising = Self.roundNumbers[Self.roundNumber(atLeast: start)...]
        let end = rising.firstIndex { $0 > maximum } ?? rising.endIndex - 1
        return (minimum < rising[rising.startIndex] ? [0] : []) + rising[...end]
    }
}
