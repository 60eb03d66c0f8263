import Essentials

/// How values are spread: their extremes, mean, percentiles and a histogram, in memory that does not grow with them.
///
/// Up to `exactLimit` values percentiles are exact; beyond it values are counted in buckets whose edges grow by 2%,
/// and percentiles are within 1%. Extremes and mean are exact always.
package struct Distribution: Sendable, Equatable {
    package static let exactLimit = 1 << 16
    private static let growth = log(1.02)

    package private(set) var count = 0
    package private(set) var minimum = Double.infinity
    package private(set) var maximum = -Double.infinity
    private var sum = 0.0
    private let limit: Int
    private let isSigned: Bool
    private var values: [Double] = []
    /// How many values each bucket has, once there are too many to keep; zeros are in 0, and below it what is negative.
    private var buckets: [Int: Int] = [:]
    /// The bucket of the least amount that is not taken for zero.
    private static let first = Int((log(1e-9) / growth).rounded(.down))

    /// - Parameter isSigned: negative values count, too.
    package init(exactLimit: Int = Self.exactLimit, isSigned: Bool = false) {
        (limit, self.isSigned) = (exactLimit, isSigned)
    }

    package var isExact: Bool { buckets.isEmpty }
    package var mean: Double { count > 0 ? sum / Double(count) : 0 }

    /// What is no amount, such as an edited result may have, is left out.
    package mutating func add(_ value: Double) {
        guard value >= 0 || isSigned, abs(value) < 1e300 else { return }
        count += 1
        sum += value
        minimum = min(minimum, value)
        maximum = max(maximum, value)
        if isExact, values.count < limit { return values.append(value) }
        for value in values { buckets[Self.bucket(of: value), default: 0] += 1 }
        values = []
        buckets[Self.bucket(of: value), default: 0] += 1
    }

    private static func bucket(of value: Double) -> Int {
        let size = abs(value)
        guard size >= 1e-9 else { return 0 }
        let bucket = Int((log(size) / growth).rounded(.down)) - first + 1
        return value < 0 ? -bucket : bucket
    }

    /// The values, rising, and how often each comes.
    private var weighted: [(value: Double, count: Int)] {
        if isExact { return values.sorted().map { ($0, 1) } }
        return buckets.sorted { $0.key < $1.key }.map { key, count in
            let middle = key == 0 ? 0 : exp((Double(abs(key) - 1 + Self.first) + 0.5) * Self.growth)
            return (min(max(key < 0 ? -middle : middle, minimum), maximum), count)
        }
    }

    /// The least values that so many percent of all don't exceed (the nearest rank); none if there are no values.
    package func percentiles(_ percents: [Double]) -> [Double] {
        guard count > 0 else { return [] }
        let weighted = weighted
        return percents.map { percent in
            // The last bucket's middle is not the last value.
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

    // MARK: Histogram

    package struct Bin: Sendable, Equatable {
        /// The least value, and what values stay below.
        package var range: Range<Double>
        package var count: Int
    }

    package struct Histogram: Sendable, Equatable {
        package var bins: [Bin]
        /// The edges rise as 1, 2, 5, 10: the values are spread too far for bins of one width.
        package var isLogarithmic: Bool
    }

    /// - Parameter areWhole: the values are whole numbers, and so are the edges.
    package func histogram(areWhole: Bool) -> Histogram {
        guard count > 0 else { return Histogram(bins: [], isLogarithmic: false) }
        let weighted = weighted
        let isLogarithmic =
            minimum >= 0 && maximum > 20 * percentiles([90])[0] && maximum > (areWhole ? 50 : 0.05)
        let edges = isLogarithmic ? risingEdges(areWhole) : evenEdges(areWhole)
        var counts = [Int](repeating: 0, count: edges.count - 1)
        var place = 0
        for (value, count) in weighted {
            while place < counts.count - 1, value >= edges[place + 1] { place += 1 }
            counts[place] += count
        }
        let bins = counts.indices.map { Bin(range: edges[$0]..<edges[$0 + 1], count: counts[$0]) }
        return Histogram(bins: bins, isLogarithmic: isLogarithmic)
    }

    /// Up to some thirty bins, of few values fewer, of a width of 1, 2 or 5 times a power of ten.
    private func evenEdges(_ areWhole: Bool) -> [Double] {
        let most = min(30, max(8, 2 * Double(count).squareRoot()))
        let least = max((maximum - minimum) / most, areWhole ? 1 : max(maximum, -minimum, 0.001) / 1000)
        let width = Self.roundNumber(atLeast: least)
        let first = (minimum / width).rounded(.down)
        let last = (maximum / width).rounded(.down) + 1
        return (0...Int(last - first)).map { Self.tidy((first + Double($0)) * width) }
    }

    private func risingEdges(_ areWhole: Bool) -> [Double] {
        let start = max(percentiles([1])[0], maximum / 1e6, areWhole ? 1 : 0.001)
        var edge = Self.roundNumber(atLeast: start)
        var edges = minimum < edge ? [0, edge] : [edge]
        while edge <= maximum {
            edge = Self.roundNumber(atLeast: edge * 1.5)
            edges.append(edge)
        }
        return edges
    }

    private static func roundNumber(atLeast value: Double) -> Double {
        let power = floor(log10(value * 0.999_999))
        let digit = [1.0, 2, 5, 10].first { tidy($0 * pow(10, power)) >= value * 0.999_999 } ?? 10
        return tidy(digit * pow(10, power))
    }

    /// Without what multiplying leaves in the last digits.
    private static func tidy(_ value: Double) -> Double {
        guard value != 0 else { return 0 }
        let scale = pow(10, 9 - floor(log10(abs(value))))
        return scale.isFinite && scale >= 1 ? (value * scale).rounded() / scale : value
    }
}
