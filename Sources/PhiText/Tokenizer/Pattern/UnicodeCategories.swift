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

    /// By their numbers. White space among control characters has no name of its own.
    private static let names =
        "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn Cc"
        .split(at: " ")

    /// The categories a name like `L` or `Lu` stands for, one bit each; nil for other names.
    static func mask(named name: String) -> UInt32? {
        let meant = names.indices.filter { names[$0] == name || names[$0].prefix(1) == name }
        return meant.isEmpty ? nil : meant.reduce(0) { $0 | 1 << UInt32($1) }
    }

    /// `\s`: Unicode's White_Space.
    static let whiteSpace: UInt32 = 1 << 22 | 1 << 23 | 1 << 24 | 1 << 30
    static let all: UInt32 = 1 << 31 - 1
}
