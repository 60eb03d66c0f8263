import JSON

/// One of some places, each as often as its weight says beside the others'.
///
/// Sums and products are single roundings of IEEE 754 in a fixed order, and so the same on any machine. Whole weights
/// of a sum below 2^53 are exact.
struct WeightedDraw: Sendable, Equatable {
    let weights: [Double]
    /// The sums of the weights up to each.
    private let sums: [Double]
    /// The last place that has a weight.
    private let last: Int

    /// - Throws: `SettingProblem` if they are no weights of `count` places.
    init(_ weights: [Double], count: Int) throws(SettingProblem) {
        guard weights.count == count else {
            throw SettingProblem("has \(weights.count) weights for \(count) values; each value needs one")
        }
        guard weights.allSatisfy({ $0 >= 0 }) else {
            throw SettingProblem("has a weight below 0; weights are 0 or more")
        }
        guard let last = weights.lastIndex(where: { $0 > 0 }) else {
            throw SettingProblem("has no weight above 0, so that nothing can be picked")
        }
        var sum = 0.0
        sums = weights.map { weight in
            sum += weight
            return sum
        }
        guard sum.isFinite else { throw SettingProblem("has weights whose sum is too large") }
        (self.weights, self.last) = (weights, last)
    }

    func place(_ bits: UInt64) -> Int {
        let target = Double(bits >> 11) * 0x1p-53 * sums[last]
        // The first whose sum is beyond the target.
        var (low, high) = (0, last)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] > target { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension UInt64 {
    /// Uniform bits as a place of so many, to within 2^-64 of each's share.
    func place(below count: Int) -> Int { Int(multipliedFullWidth(by: UInt64(count)).high) }
}
