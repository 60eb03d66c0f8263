/// A value for each Unicode scalar, in pages of 256 values that identical blocks of scalars share.
struct ScalarTable<Value: BitwiseCopyable & Hashable & Sendable>: Sendable {
    static var blockCount: Int { 0x110000 >> 8 }

    let pageOfBlock: FrozenArray<UInt16>
    let pages: FrozenArray<Value>

    /// - Parameters:
    ///   - kind: kind of a block; all blocks of one kind are identical. Nil for unknown.
    ///   - page: values of a block.
    init(kind: (_ block: Int) -> Int?, page: (_ block: Int) throws -> [Value]) rethrows {
        var pageOfBlock: [UInt16] = []
        var pages: [Value] = []
        var known: [[Value]: UInt16] = [:]
        var pageOfKind: [Int: UInt16] = [:]
        for block in 0..<Self.blockCount {
            let kind = kind(block)
            if let page = kind.flatMap({ pageOfKind[$0] }) {
                pageOfBlock.append(page)
                continue
            }
            let values = try page(block)
            let number = known[values] ?? UInt16(known.count)
            if known.updateValue(number, forKey: values) == nil { pages += values }
            if let kind { pageOfKind[kind] = number }
            pageOfBlock.append(number)
        }
        self.pageOfBlock = FrozenArray(pageOfBlock)
        self.pages = FrozenArray(pages)
    }

    @inline(__always)
    subscript(scalar: UInt32) -> Value {
        pages[Int(pageOfBlock[Int(scalar >> 8)]) << 8 | Int(scalar & 0xFF)]
    }
}

extension ScalarTable<Int32> {
    static var none: Int32 { -1 }

    /// Creates a table of the tokens of single characters.
    init(_ tokens: [(scalar: UInt32, id: Int32)]) {
        let empty = [Int32](repeating: Self.none, count: 256)
        var pages: [UInt32: [Int32]] = [:]
        for token in tokens { pages[token.scalar >> 8, default: empty][Int(token.scalar & 0xFF)] = token.id }
        self.init(kind: { pages[UInt32($0)] == nil ? 0 : nil }, page: { pages[UInt32($0)] ?? empty })
    }
}
