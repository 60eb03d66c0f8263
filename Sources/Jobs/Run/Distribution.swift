import FoundationShim

/// Extremes, mean and percentiles of values, in constant memory.
///
/// Values are counted with three significant digits, so percentiles are within 0.5%. Extremes and mean are exact.
package struct Distribution: Sendable, Equatable {
    package private(set) var count = 0
    package private(set) var minimum = Double.infinity
    package private(set) var maximum = -Double.infinity
    private var sum = 0.0
    /// The frequency of each value, rounded.
    private var counts: [Double: Int] = [:]

    package init() {}

    package var mean: Double { count > 0 ? sum / Double(count) : 0 }

    /// Adds a value. One that is no amount is ignored.
    package mutating func add(_ value: Double) {
        guard abs(value) < 1e300 else { return }
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
    package var weighted: [(value: Double, count: Int)] {
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
}
