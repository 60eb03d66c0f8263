import Foundation

/// How long things took, so that shares of them can be asked for: counts in intervals that grow by a fiftieth, from a
/// millisecond to some weeks.
public struct TimeSpread: Sendable, Equatable {
    private static let perOctave = 32.0
    private static let octaves = 32.0
    private static let least = 0.001
    private var counts: [Int: Int] = [:]
    public private(set) var count = 0

    public init() {}

    mutating func add(_ seconds: Double) {
        let place = log2(max(seconds, Self.least) / Self.least) * Self.perOctave
        counts[Int(min(place, Self.octaves * Self.perOctave)), default: 0] += 1
        count += 1
    }

    /// How many seconds that share of all took at most, to within a fiftieth; nil if there are none.
    /// - Parameter share: above 0, at most 1; 0.5 is the median.
    public func seconds(of share: Double) -> Double? {
        let wanted = Int((share * Double(count)).rounded(.up))
        var seen = 0
        for (place, number) in counts.sorted(by: { $0.key < $1.key }) {
            seen += number
            if seen >= max(1, wanted) {
                return Self.least * exp2((Double(place) + 0.5) / Self.perOctave)
            }
        }
        return nil
    }
}
