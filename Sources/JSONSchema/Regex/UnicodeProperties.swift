import Essentials
import Synchronization

/// The sets behind `\p{...}`, by the Unicode data of Swift's library.
enum UnicodeProperties {
    /// - Parameter text: what stands between the braces: `Lu`, `Letter`, `gc=Lu`, `Script=Greek`, `Alphabetic`.
    /// - Returns: nil for a property that is not known.
    static func ranges(_ text: String) -> ScalarRanges? {
        if let known = known.withLock({ $0[text] }) { return known }
        guard let ranges = find(text) else { return nil }
        known.withLock { $0[text] = ranges }
        return ranges
    }

    // Finding one takes milliseconds. There are some hundred names, as each has one spelling.
    private static let known = Mutex<[String: ScalarRanges]>([:])

    private static func find(_ text: String) -> ScalarRanges? {
        let parts = text.split(at: "=", max: 1, keepingEmpty: true).map(
            String.init)
        guard parts.count == 2 else { return categories(text) ?? binary(text) }
        switch parts[0] {
        case "General_Category", "gc": return categories(parts[1])
        case "Script", "sc", "Script_Extensions", "scx": return script(parts[0], parts[1])
        default: return nil
        }
    }

    // MARK: General categories

    /// The general category of all scalars, as runs: where one begins, and its number.
    private static let runs: [(start: UInt32, category: UInt8)] = {
        var runs: [(start: UInt32, category: UInt8)] = []
        func add(_ start: UInt32, _ category: Unicode.GeneralCategory) {
            let number = GeneralCategories.number(of: category)
            if runs.last?.category != number { runs.append((start, number)) }
        }
        var value: UInt32 = 0
        while value <= ScalarRanges.lastScalar {
            // Planes 4 to 13 hold no characters; not asking saves time.
            if value == 0x40000 {
                add(value, .unassigned)
                value = 0xE0000
            }
            add(value, Unicode.Scalar(value)?.properties.generalCategory ?? .surrogate)
            value += 1
        }
        return runs
    }()

    /// By the numbers of categories.
    private static let longNames =
        """
        Uppercase_Letter Lowercase_Letter Titlecase_Letter Modifier_Letter Other_Letter Nonspacing_Mark \
        Spacing_Mark Enclosing_Mark Decimal_Number Letter_Number Other_Number Connector_Punctuation \
        Dash_Punctuation Open_Punctuation Close_Punctuation Initial_Punctuation Final_Punctuation \
        Other_Punctuation Math_Symbol Currency_Symbol Modifier_Symbol Other_Symbol Space_Separator \
        Line_Separator Paragraph_Separator Control Format Surrogate Private_Use Unassigned
        """
        .split(at: " ")

    private static let groups = [
        "Letter": "L", "Mark": "M", "Combining_Mark": "M", "Number": "N", "Punctuation": "P", "punct": "P",
        "Symbol": "S", "Separator": "Z", "Other": "C", "digit": "Nd", "cntrl": "Cc",
    ]

    private static func categories(_ name: String) -> ScalarRanges? {
        let name = groups[name] ?? name
        let isCased = name == "LC" || name == "Cased_Letter"
        let wanted = zip(GeneralCategories.names, longNames).enumerated().filter { number, names in
            isCased && number < 3 || names.0 == name || names.1 == name
                || name.utf8.count == 1 && names.0.hasPrefix(name)
        }
        guard !wanted.isEmpty else { return nil }
        let categories = Set(wanted.map { UInt8($0.offset) })
        var ranges: [ClosedRange<UInt32>] = []
        for (i, run) in runs.enumerated() where categories.contains(run.category) {
            ranges.append(run.start...(i + 1 < runs.count ? runs[i + 1].start - 1 : ScalarRanges.lastScalar))
        }
        return ScalarRanges(ranges)
    }

    // MARK: Others

    private static func binary(_ name: String) -> ScalarRanges? {
        typealias Test = (Unicode.Scalar.Properties) -> Bool
        let test: Test
        switch name {
        case "Any": return .all
        case "ASCII": return ScalarRanges([0...0x7F])
        case "Assigned": return categories("Cn")?.inverted
        case "Alphabetic", "Alpha": test = { $0.isAlphabetic }
        case "Uppercase", "Upper": test = { $0.isUppercase }
        case "Lowercase", "Lower": test = { $0.isLowercase }
        case "White_Space", "space": test = { $0.isWhitespace }
        case "ASCII_Hex_Digit", "AHex": test = { $0.isASCIIHexDigit }
        case "Hex_Digit", "Hex": test = { $0.isHexDigit }
        case "ID_Start", "IDS": test = { $0.isIDStart }
        case "ID_Continue", "IDC": test = { $0.isIDContinue }
        case "XID_Start", "XIDS": test = { $0.isXIDStart }
        case "XID_Continue", "XIDC": test = { $0.isXIDContinue }
        case "Ideographic", "Ideo": test = { $0.isIdeographic }
        case "Emoji": test = { $0.isEmoji }
        case "Emoji_Presentation", "EPres": test = { $0.isEmojiPresentation }
        case "Math": test = { $0.isMath }
        case "Dash": test = { $0.isDash }
        case "Cased": test = { $0.isCased }
        default: return nil
        }
        return ScalarRanges(assigned.lazy.filter { test($0.properties) }.map { $0.value...$0.value })
    }

    private static let assigned: [Unicode.Scalar] =
        (categories("Cn")?.inverted.ranges ?? []).flatMap { $0.compactMap { Unicode.Scalar($0) } }

    /// Swift takes a script's name in any case, ECMA-262 as Unicode writes it: `Old_Italic`.
    private static func hasOneSpelling(_ name: String) -> Bool {
        name == "SignWriting"
            || name.split(at: "_", keepingEmpty: true).allSatisfy { part in
                part.first?.isUppercase ?? false && part.dropFirst().allSatisfy(\.isLowercase)
            }
    }

    /// Swift tells a scalar's script only through its own regular expressions.
    private static func script(_ key: String, _ name: String) -> ScalarRanges? {
        guard hasOneSpelling(name),
            name.utf8.allSatisfy({ $0 == UInt8(ascii: "_") || $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A }),
            !name.isEmpty, let regex = try? Regex("\\p{\(key)=\(name)}+").matchingSemantics(.unicodeScalar)
        else { return nil }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: assigned)
        return ScalarRanges(
            String(text).matches(of: regex).flatMap { match in
                match.range.lowerBound < match.range.upperBound
                    ? text[match.range].map { $0.value...$0.value } : []
            })
    }
}
