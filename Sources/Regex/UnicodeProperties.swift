import FoundationShim

/// Sets of `\p{...}`, from the Unicode data of Swift's library.
enum UnicodeProperties {
    /// - Parameter text: the text between the braces: `Lu`, `Letter`, `gc=Lu`, `Alphabetic`.
    /// - Returns: nil for an unknown property, or one that is not supported, such as a script.
    static func ranges(_ text: String) -> ScalarSet? {
        if let known = known.withLock({ $0[text] }) { return known }
        guard let ranges = find(text) else { return nil }
        known.withLock { $0[text] = ranges }
        return ranges
    }

    // Cached, as computing one takes milliseconds. There are some hundred names, each with one spelling.
    private static let known = Mutex<[String: ScalarSet]>([:])

    private static func find(_ text: String) -> ScalarSet? {
        for prefix in ["General_Category=", "gc="] where text.hasPrefix(prefix) {
            return categories(String(text.dropFirst(prefix.count)))
        }
        return categories(text) ?? binary(text)
    }

    // MARK: General categories

    /// Returns a category's byte in memory: comparing categories directly is several times slower.
    private static func number(_ category: Unicode.GeneralCategory) -> UInt8 {
        withUnsafeBytes(of: category) { $0[0] }
    }

    /// General category of all scalars, as runs.
    private static let runs: [(start: UInt32, number: UInt8)] = {
        var runs: [(start: UInt32, number: UInt8)] = []
        func add(_ start: UInt32, _ category: Unicode.GeneralCategory) {
            let number = number(category)
            if runs.last?.number != number { runs.append((start, number)) }
        }
        for block in UInt32(0)..<0x1100 {
            if let known = uniformBlocks.first(where: { $0.blocks.contains(block) }) {
                add(block << 8, known.category)
                continue
            }
            for value in block << 8..<(block + 1) << 8 {
                let properties = Unicode.Scalar(value)?.properties
                // Tokenizers' patterns are matched by Oniguruma 6.9.10, with Unicode 16: later characters count as
                // unassigned, whatever version the Swift library has.
                let isKnown = (properties?.age?.major ?? .max) <= 16
                add(value, isKnown ? properties?.generalCategory ?? .unassigned : .unassigned)
            }
        }
        return runs
    }()

    /// Blocks of 256 scalars of one category in Unicode 16; skipping them saves most of the time.
    private static let uniformBlocks: [(blocks: Range<UInt32>, category: Unicode.GeneralCategory)] = [
        (0x34..<0x4D, .otherLetter), (0x4E..<0xA0, .otherLetter), (0xAC..<0xD7, .otherLetter),
        (0xD8..<0xE0, .surrogate), (0xE0..<0xF9, .privateUse), (0x200..<0x2A6, .otherLetter),
        (0x2A7..<0x2B7, .otherLetter), (0x2B9..<0x2CE, .otherLetter), (0x2CF..<0x2EB, .otherLetter),
        (0x2FB..<0x300, .unassigned), (0x300..<0x313, .otherLetter), (0x314..<0x323, .otherLetter),
        (0x324..<0xE00, .unassigned), (0xE02..<0xF00, .unassigned), (0xF00..<0xFFF, .privateUse),
        (0x1000..<0x10FF, .privateUse),
    ]

    private static let names: [(category: Unicode.GeneralCategory, short: String, long: String)] = [
        (.uppercaseLetter, "Lu", "Uppercase_Letter"), (.lowercaseLetter, "Ll", "Lowercase_Letter"),
        (.titlecaseLetter, "Lt", "Titlecase_Letter"), (.modifierLetter, "Lm", "Modifier_Letter"),
        (.otherLetter, "Lo", "Other_Letter"), (.nonspacingMark, "Mn", "Nonspacing_Mark"),
        (.spacingMark, "Mc", "Spacing_Mark"), (.enclosingMark, "Me", "Enclosing_Mark"),
        (.decimalNumber, "Nd", "Decimal_Number"), (.letterNumber, "Nl", "Letter_Number"),
        (.otherNumber, "No", "Other_Number"), (.connectorPunctuation, "Pc", "Connector_Punctuation"),
        (.dashPunctuation, "Pd", "Dash_Punctuation"), (.openPunctuation, "Ps", "Open_Punctuation"),
        (.closePunctuation, "Pe", "Close_Punctuation"), (.initialPunctuation, "Pi", "Initial_Punctuation"),
        (.finalPunctuation, "Pf", "Final_Punctuation"), (.otherPunctuation, "Po", "Other_Punctuation"),
        (.mathSymbol, "Sm", "Math_Symbol"), (.currencySymbol, "Sc", "Currency_Symbol"),
        (.modifierSymbol, "Sk", "Modifier_Symbol"), (.otherSymbol, "So", "Other_Symbol"),
        (.spaceSeparator, "Zs", "Space_Separator"), (.lineSeparator, "Zl", "Line_Separator"),
        (.paragraphSeparator, "Zp", "Paragraph_Separator"), (.control, "Cc", "Control"),
        (.format, "Cf", "Format"), (.surrogate, "Cs", "Surrogate"), (.privateUse, "Co", "Private_Use"),
        (.unassigned, "Cn", "Unassigned"),
    ]

    private static let groups = [
        "Letter": "L", "Mark": "M", "Combining_Mark": "M", "Number": "N", "Punctuation": "P", "punct": "P",
        "Symbol": "S", "Separator": "Z", "Other": "C", "digit": "Nd", "cntrl": "Cc",
    ]

    private static func categories(_ name: String) -> ScalarSet? {
        let name = groups[name] ?? name
        let isCased = name == "LC" || name == "Cased_Letter"
        let wanted = names.filter {
            isCased && ["Lu", "Ll", "Lt"].contains($0.short) || $0.short == name || $0.long == name
                || name.utf8.count == 1 && $0.short.hasPrefix(name)
        }
        guard !wanted.isEmpty else { return nil }
        let numbers = wanted.map { number($0.category) }
        var ranges: [ClosedRange<UInt32>] = []
        for (i, run) in runs.enumerated() where numbers.contains(run.number) {
            ranges.append(run.start...(i + 1 < runs.count ? runs[i + 1].start - 1 : ScalarSet.lastScalar))
        }
        return ScalarSet(ranges)
    }

    private static func binary(_ name: String) -> ScalarSet? {
        let test: (Unicode.Scalar.Properties) -> Bool
        switch name {
        case "Any": return .all
        case "ASCII": return ScalarSet([0...0x7F])
        case "White_Space", "space": return .whiteSpace
        case "Assigned": return categories("Cn")?.inverted
        case "Alphabetic", "Alpha": test = { $0.isAlphabetic }
        case "Uppercase", "Upper": test = { $0.isUppercase }
        case "Lowercase", "Lower": test = { $0.isLowercase }
        case "Emoji": test = { $0.isEmoji }
        default: return nil
        }
        let assigned = categories("Cn")?.inverted.ranges ?? []
        return ScalarSet(
            assigned.joined().filter { Unicode.Scalar($0).map { test($0.properties) } ?? false }
                .map { $0...$0 })
    }
}
