/// A set of Unicode scalars, as a character class of a pattern describes it.
struct ScalarSet: Hashable, Sendable {
    /// Categories, one bit each (see `UnicodeCategories`).
    var categories: UInt32 = 0
    var ranges: [ClosedRange<UInt32>] = []
    var isNegated = false

    static func one(_ scalar: UInt32) -> ScalarSet { ScalarSet(ranges: [scalar...scalar]) }

    var inverted: ScalarSet {
        var copy = self
        copy.isNegated.toggle()
        return copy
    }

    func contains(_ scalar: UInt32, category: UInt8) -> Bool {
        (categories >> UInt32(category) & 1 == 1 || ranges.contains { $0.contains(scalar) }) != isNegated
    }

    /// The same set with the other case of every letter, by Unicode's simple case folding.
    /// - Returns: nil if it holds letters beyond ASCII, or categories: not needed so far.
    var ignoringCase: ScalarSet? {
        guard categories == 0 else { return nil }
        var result = self
        for range in ranges {
            for value in range {
                guard let scalar = Unicode.Scalar(value) else { continue }
                switch value {
                case 0x41...0x5A: result.ranges.append(value + 32...value + 32)
                case 0x61...0x7A: result.ranges.append(value - 32...value - 32)
                case 0x80...:
                    guard !scalar.properties.changesWhenCaseMapped else { return nil }
                default: break
                }
                // The only letters beyond ASCII that fold to ASCII: KELVIN SIGN and LONG S.
                if value | 0x20 == 0x6B { result.ranges.append(0x212A...0x212A) }
                if value | 0x20 == 0x73 { result.ranges.append(0x17F...0x17F) }
            }
        }
        return result
    }
}
