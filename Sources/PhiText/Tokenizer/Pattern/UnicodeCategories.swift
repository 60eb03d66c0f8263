/// The general category of every Unicode scalar, in a two-level table that is built once.
///
/// Patterns in tokenizers are matched by Oniguruma 6.9.10, which knows Unicode 16: later characters count
/// as unassigned, whatever version the Swift library brings.
struct UnicodeCategories: Sendable {
    static let shared = UnicodeCategories()

    /// One more than the categories of Unicode: the control characters that are white space
    /// (U+0009 to U+000D and U+0085), so that `\s` is a set of categories too.
    static let spaceControl: UInt8 = 30
    static let count = 31
    static let blockCount = 0x110000 >> 8

    /// For each block of 256 scalars, which page of `pages` describes it.
    let pageOfBlock: [UInt16]
    /// 256 categories a page.
    let pages: [UInt8]

    private init() {
        var pageOfBlock = [UInt16](repeating: 0, count: Self.blockCount)
        var pages: [UInt8] = []
        var known: [[UInt8]: UInt16] = [:]
        // Where it is the same for a whole block.
        var uniform: [UInt8: UInt16] = [:]
        for block in 0..<Self.blockCount {
            let category = Self.uniformBlocks.first { $0.blocks.contains(block) }.map {
                Self.index(of: $0.category)
            }
            if let category, let index = uniform[category] {
                pageOfBlock[block] = index
                continue
            }
            let page =
                category.map { [UInt8](repeating: $0, count: 256) }
                ?? (0..<256).map { Self.category(ofScalar: UInt32(block) << 8 | $0) }
            if let index = known[page] {
                pageOfBlock[block] = index
            } else {
                let index = UInt16(known.count)
                known[page] = index
                pageOfBlock[block] = index
                pages += page
            }
            if let category { uniform[category] = pageOfBlock[block] }
        }
        self.pageOfBlock = pageOfBlock
        self.pages = pages
    }

    func category(of scalar: UInt32) -> UInt8 {
        pages[Int(pageOfBlock[Int(scalar >> 8)]) << 8 | Int(scalar & 0xFF)]
    }

    /// Blocks of one category in Unicode 16: not asking for each of their scalars saves most of the time.
    private static let uniformBlocks: [(blocks: Range<Int>, category: Unicode.GeneralCategory)] = [
        (0x34..<0x4D, .otherLetter), (0x4E..<0xA0, .otherLetter), (0xAC..<0xD7, .otherLetter),
        (0xD8..<0xE0, .surrogate), (0xE0..<0xF9, .privateUse), (0x200..<0x2A6, .otherLetter),
        (0x2A7..<0x2B7, .otherLetter), (0x2B9..<0x2CE, .otherLetter), (0x2CF..<0x2EB, .otherLetter),
        (0x2FB..<0x300, .unassigned), (0x300..<0x313, .otherLetter), (0x314..<0x323, .otherLetter),
        (0x324..<0xE00, .unassigned), (0xE02..<0xF00, .unassigned), (0xF00..<0xFFF, .privateUse),
        (0x1000..<0x10FF, .privateUse),
    ]

    private static func category(ofScalar value: UInt32) -> UInt8 {
        guard let scalar = Unicode.Scalar(value) else { return index(of: .surrogate) }
        if 0x09...0x0D ~= value || value == 0x85 { return spaceControl }
        guard let age = scalar.properties.age, age.major <= 16 else { return index(of: .unassigned) }
        return index(of: scalar.properties.generalCategory)
    }

    /// A fixed numbering, 0 to 29.
    static func index(of category: Unicode.GeneralCategory) -> UInt8 {
        switch category {
        case .uppercaseLetter: 0
        case .lowercaseLetter: 1
        case .titlecaseLetter: 2
        case .modifierLetter: 3
        case .otherLetter: 4
        case .nonspacingMark: 5
        case .spacingMark: 6
        case .enclosingMark: 7
        case .decimalNumber: 8
        case .letterNumber: 9
        case .otherNumber: 10
        case .connectorPunctuation: 11
        case .dashPunctuation: 12
        case .openPunctuation: 13
        case .closePunctuation: 14
        case .initialPunctuation: 15
        case .finalPunctuation: 16
        case .otherPunctuation: 17
        case .mathSymbol: 18
        case .currencySymbol: 19
        case .modifierSymbol: 20
        case .otherSymbol: 21
        case .spaceSeparator: 22
        case .lineSeparator: 23
        case .paragraphSeparator: 24
        case .control: 25
        case .format: 26
        case .surrogate: 27
        case .privateUse: 28
        case .unassigned: 29
        @unknown default: 29
        }
    }

    /// The categories a name like `L` or `Lu` stands for, one bit each; nil for other names.
    static func mask(named name: String) -> UInt32? {
        let names: [(String, ClosedRange<Int>)] = [
            ("L", 0...4), ("Lu", 0...0), ("Ll", 1...1), ("Lt", 2...2), ("Lm", 3...3), ("Lo", 4...4),
            ("M", 5...7), ("Mn", 5...5), ("Mc", 6...6), ("Me", 7...7),
            ("N", 8...10), ("Nd", 8...8), ("Nl", 9...9), ("No", 10...10),
            ("P", 11...17), ("Pc", 11...11), ("Pd", 12...12), ("Ps", 13...13), ("Pe", 14...14),
            ("Pi", 15...15), ("Pf", 16...16), ("Po", 17...17),
            ("S", 18...21), ("Sm", 18...18), ("Sc", 19...19), ("Sk", 20...20), ("So", 21...21),
            ("Z", 22...24), ("Zs", 22...22), ("Zl", 23...23), ("Zp", 24...24),
            ("C", 25...30), ("Cf", 26...26), ("Cs", 27...27), ("Co", 28...28), ("Cn", 29...29),
        ]
        if name == "Cc" { return 1 << 25 | 1 << 30 }
        guard let range = names.first(where: { $0.0 == name })?.1 else { return nil }
        return range.reduce(0) { $0 | 1 << UInt32($1) }
    }

    /// `\s`: Unicode's White_Space.
    static let whiteSpace: UInt32 = 1 << 22 | 1 << 23 | 1 << 24 | 1 << 30
    static let all: UInt32 = 1 << 31 - 1
}
