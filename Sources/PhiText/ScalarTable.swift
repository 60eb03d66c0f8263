/// The token of each Unicode scalar, or -1, in pages of 256 scalars.
struct ScalarTable: Sendable {
    private let pageOfBlock: FrozenArray<UInt16>
    private let pages: FrozenArray<Int32>

    init(_ tokens: [(scalar: UInt32, id: Int32)]) {
        var pageOfBlock = [UInt16](repeating: 0, count: 0x110000 >> 8)
        // The first page is that of all blocks without tokens.
        var pages = [Int32](repeating: -1, count: 256)
        for (scalar, id) in tokens {
            let block = Int(scalar >> 8)
            if pageOfBlock[block] == 0 {
                pageOfBlock[block] = UInt16(pages.count >> 8)
                pages += repeatElement(-1, count: 256)
            }
            pages[Int(pageOfBlock[block]) << 8 | Int(scalar & 0xFF)] = id
        }
        self.pageOfBlock = FrozenArray(pageOfBlock)
        self.pages = FrozenArray(pages)
    }

    @inline(__always)
    subscript(scalar: UInt32) -> Int32 {
        pages[Int(pageOfBlock[Int(scalar >> 8)]) << 8 | Int(scalar & 0xFF)]
    }
}
