/// Set of Unicode code points as sorted, disjoint ranges that don't touch.
package struct ScalarSet: Hashable, Sendable {
    package let ranges: [ClosedRange<UInt32>]

    /// Takes any ranges, in any order.
    package init(_ ranges: [ClosedRange<UInt32>]) {
        var joined: [ClosedRange<UInt32>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, range.lowerBound <= last.upperBound + 1 {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        self.ranges = joined
    }

    package static func one(_ scalar: UInt32) -> ScalarSet { ScalarSet([scalar...scalar]) }

    package static let lastScalar: UInt32 = 0x10FFFF
    package static let all = ScalarSet([0...lastScalar])

    /// The only member, if there is just one.
    package var single: UInt32? {
        ranges.count == 1 && ranges[0].count == 1 ? ranges[0].lowerBound : nil
    }

    package var inverted: ScalarSet {
        var gaps: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { gaps.append(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= Self.lastScalar { gaps.append(next...Self.lastScalar) }
        return ScalarSet(gaps)
    }

    /// Returns the set closed under Unicode's simple case folding.
    /// - Returns: nil if it has letters beyond ASCII with cases, which are not supported.
    var ignoringCase: ScalarSet? {
        var all = ranges
        for value in ranges.joined() {
            switch value {
            case 0x41...0x5A: all.append(value + 32...value + 32)
            case 0x61...0x7A: all.append(value - 32...value - 32)
            case 0x80...: if Unicode.Scalar(value)?.properties.changesWhenCaseMapped ?? false { return nil }
            default: break
            }
            // The only letters beyond ASCII that fold to ASCII: KELVIN SIGN and LONG S.
            if value == 0x4B || value == 0x6B { all.append(0x212A...0x212A) }
            if value == 0x53 || value == 0x73 { all.append(0x17F...0x17F) }
        }
        return ScalarSet(all)
    }

    /// Binary search.
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

extension ScalarSet {
    /// `\d`.
    package static let digit = ScalarSet([0x30...0x39])
    /// `\w`.
    package static let word = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    /// Characters that `.` excludes (ECMA-262, LineTerminator).
    package static let lineEnd = ScalarSet([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029])
    /// Unicode's White_Space.
    package static let whiteSpace = ScalarSet([
        0x09...0x0D, 0x20...0x20, 0x85...0x85, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
        0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000,
    ])
    /// `\s` (ECMA-262, WhiteSpace and LineTerminator).
    package static let space = ScalarSet(
        whiteSpace.ranges.filter { $0.lowerBound != 0x85 } + [0xFEFF...0xFEFF])
}
