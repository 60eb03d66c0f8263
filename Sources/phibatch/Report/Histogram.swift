import BatchPipeline
import FoundationShim

extension Distribution {
    /// Counts of values between round edges; logarithmic if the range is too wide for bins of one width.
    /// - Parameter areWhole: whether values, and so edges, are whole numbers.
    func histogram(areWhole: Bool) -> (bins: [(range: Range<Double>, count: Int)], isLogarithmic: Bool) {
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
        return (zip(zip(edges, edges.dropFirst()).map { $0..<$1 }, counts).map { ($0, $1) }, isLogarithmic)
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
