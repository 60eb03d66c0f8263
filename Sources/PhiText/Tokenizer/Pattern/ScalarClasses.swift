/// Sorts all scalars into the few classes that a pattern can tell apart.
struct ScalarClasses: Sendable {
    /// The sets each class belongs to, one bit each.
    let members: [UInt64]
    /// Class of an ASCII byte.
    let ascii: FrozenArray<UInt8>
    let pageOfBlock: FrozenArray<UInt16>
    let pages: FrozenArray<UInt8>

    init(_ sets: [ScalarSet]) throws {
        let unicode = UnicodeCategories.shared
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
        var named = [Bool](repeating: false, count: UnicodeCategories.blockCount)
        for range in sets.flatMap(\.ranges) {
            for block in range.lowerBound >> 8...range.upperBound >> 8 { named[Int(block)] = true }
        }
        let byCategory = (0..<UnicodeCategories.count).map { signature(.max, UInt8($0)) }
        var pageOfBlock: [UInt16] = []
        var pages: [UInt8] = []
        var plainPage: [UInt16: UInt16] = [:]
        var knownPages: [[UInt8]: UInt16] = [:]
        for block in 0..<UnicodeCategories.blockCount {
            let source = unicode.pageOfBlock[block]
            if !named[block], let page = plainPage[source] {
                pageOfBlock.append(page)
                continue
            }
            var page: [UInt8] = []
            page.reserveCapacity(256)
            for low in 0..<256 {
                let category = unicode.pages[Int(source) << 8 | low]
                let bits =
                    named[block]
                    ? signature(UInt32(block << 8 | low), category) : byCategory[Int(category)]
                page.append(try classIndex(bits))
            }
            let index = knownPages[page] ?? UInt16(knownPages.count)
            if knownPages[page] == nil {
                knownPages[page] = index
                pages += page
            }
            if !named[block] { plainPage[source] = index }
            pageOfBlock.append(index)
        }
        self.members = members
        self.pageOfBlock = FrozenArray(pageOfBlock)
        self.pages = FrozenArray(pages)
        ascii = FrozenArray((0..<128).map { pages[Int(pageOfBlock[0]) << 8 | $0] })
    }
}
