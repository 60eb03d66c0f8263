import Essentials

/// The general category of every Unicode scalar, in a two-level table that is built once.
///
/// Patterns in tokenizers are matched by Oniguruma 6.9.10, which knows Unicode 16: later characters count
/// as unassigned, whatever version the Swift library brings.
enum UnicodeCategories {
    /// One more than the categories of Unicode: the control characters that are white space
    /// (U+0009 to U+000D and U+0085), so that `\s` is a set of categories too.
    static let spaceControl: UInt8 = 30
    static let count = 31

    static let table = ScalarTable(
        kind: { uniform($0).map(Int.init) },
        page: { block in
            uniform(block).map { [UInt8](repeating: $0, count: 256) }
                ?? (0..<256).map { category(ofScalar: UInt32(block) << 8 | $0) }
        })

    /// The category of all scalars of a block, where it is known to be the same.
    private static func uniform(_ block: Int) -> UInt8? {
        uniformBlocks.first { $0.blocks.contains(block) }.map { GeneralCategories.number(of: $0.category) }
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
        guard let scalar = Unicode.Scalar(value) else { return GeneralCategories.number(of: .surrogate) }
        if 0x09...0x0D ~= value || value == 0x85 { return spaceControl }
        guard let age = scalar.properties.age, age.major <= 16 else {
            return GeneralCategories.number(of: .unassigned)
        }
        return GeneralCategories.number(of: scalar.properties.generalCategory)
    }

    /// The categories a name like `L` or `Lu` stands for, one bit each; nil for other names.
    static func mask(named name: String) -> UInt32? {
        let names = GeneralCategories.names + ["Cc"]
        let meant = names.indices.filter { names[$0] == name || names[$0].prefix(1) == name }
        return meant.isEmpty ? nil : meant.reduce(0) { $0 | 1 << UInt32($1) }
    }

    /// `\s`: Unicode's White_Space.
    static let whiteSpace: UInt32 = 1 << 22 | 1 << 23 | 1 << 24 | 1 << 30
    static let all: UInt32 = 1 << 31 - 1
}
