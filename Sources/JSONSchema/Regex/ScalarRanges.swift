/// A set of Unicode code points as ranges, which are in order, apart from each other and don't touch.
package struct ScalarRanges: Hashable, Sendable {
    package let ranges: [ClosedRange<UInt32>]

    /// Takes any ranges, in any order.
    package init(_ ranges: [ClosedRange<UInt32>]) {
        var joined: [ClosedRange<UInt32>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last,
                range.lowerBound <= last.upperBound || range.lowerBound == last.upperBound + 1
            {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        self.ranges = joined
    }

    package static func one(_ scalar: UInt32) -> ScalarRanges { ScalarRanges([scalar...scalar]) }

    package static let lastScalar: UInt32 = 0x10FFFF
    package static let all = ScalarRanges([0...lastScalar])

    package var isEmpty: Bool { ranges.isEmpty }

    /// The only member, if there is just one.
    package var single: UInt32? {
        ranges.count == 1 && ranges[0].count == 1 ? ranges[0].lowerBound : nil
    }

    package var inverted: ScalarRanges {
        var gaps: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { gaps.append(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= Self.lastScalar { gaps.append(next...Self.lastScalar) }
        return ScalarRanges(gaps)
    }

    package func union(_ other: ScalarRanges) -> ScalarRanges { ScalarRanges(ranges + other.ranges) }

    /// By binary search.
    package func contains(_ scalar: UInt32) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].lowerBound <= scalar
    }
}

extension ScalarRanges {
    /// `\d`.
    package static let digit = ScalarRanges([0x30...0x39])
    /// `\w`.
    package static let word = ScalarRanges([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    /// What `.` leaves out (ECMA-262, LineTerminator).
    package static let lineEnd = ScalarRanges([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029])
    /// `\s` (ECMA-262, WhiteSpace and LineTerminator).
    package static let space = ScalarRanges([
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
        0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])
}
