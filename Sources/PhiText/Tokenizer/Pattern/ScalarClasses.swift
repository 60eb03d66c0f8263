/// Sorts all scalars into the few classes that a pattern can tell apart.
struct ScalarClasses: Sendable {
    /// The sets each class belongs to, one bit each.
    let members: [UInt64]
    /// Class of an ASCII byte.
    let ascii: FrozenArray<UInt8>
    let table: ScalarTable<UInt8>

    init(_ sets: [ScalarSet]) throws {
        let categories = UnicodeCategories.table
        var members: [UInt64] = []
        var classOfMembers: [UInt64: UInt8] = [:]

        func classIndex(_ signature: UInt64) throws -> UInt8 {
            if let index = classOfMembers[signature] { return index }
            guard let index = UInt8(exactly: members.count) else {
                throw PatternError(message: "the pattern is too large")
            }
            members.append(signature)
            classOfMembers[signature] = index
            return index
        }
        func signature(_ scalar: UInt32, _ category: UInt8) -> UInt64 {
            var bits: UInt64 = 0
            for (i, set) in sets.enumerated() where set.contains(scalar, category: category) {
                bits |= 1 << UInt64(i)
            }
            return bits
        }

        // Most blocks of 256 scalars hold nothing that a set names singly: there the category decides.
        var named = [Bool](repeating: false, count: ScalarTable<UInt8>.blockCount)
        for range in sets.flatMap(\.ranges) {
            for block in range.lowerBound >> 8...range.upperBound >> 8 { named[Int(block)] = true }
        }
        let byCategory = (0..<UnicodeCategories.count).map { signature(.max, UInt8($0)) }
        table = try ScalarTable(
            kind: { named[$0] ? nil : Int(categories.pageOfBlock[$0]) },
            page: { block in
                try (UInt32(block) << 8..<UInt32(block + 1) << 8).map { scalar in
                    let category = categories[scalar]
                    return try classIndex(
                        named[block] ? signature(scalar, category) : byCategory[Int(category)])
                }
            })
        self.members = members
        ascii = FrozenArray((0..<128).map { [table] in table[$0] })
    }
}
