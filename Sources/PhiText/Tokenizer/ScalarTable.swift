/// The token of each single character that has one: a two-level table over all scalars.
struct ScalarTable: Sendable {
    static let none: Int32 = -1

    private let pageOfBlock: FrozenArray<UInt16>
    private let pages: FrozenArray<Int32>

    init(_ tokens: [(scalar: UInt32, id: Int32)]) {
        var pageOfBlock = [UInt16](repeating: 0, count: UnicodeCategories.blockCount)
        // Page 0 is the empty one.
        var pages = [Int32](repeating: Self.none, count: 256)
        for token in tokens {
            let block = Int(token.scalar >> 8)
            if pageOfBlock[block] == 0 {
                pageOfBlock[block] = UInt16(pages.count >> 8)
                pages += [Int32](repeating: Self.none, count: 256)
            }
            pages[Int(pageOfBlock[block]) << 8 | Int(token.scalar & 0xFF)] = token.id
        }
        self.pageOfBlock = FrozenArray(pageOfBlock)
        self.pages = FrozenArray(pages)
    }

    @inline(__always)
    subscript(scalar: UInt32) -> Int32 {
        pages[Int(pageOfBlock[Int(scalar >> 8)]) << 8 | Int(scalar & 0xFF)]
    }
}
