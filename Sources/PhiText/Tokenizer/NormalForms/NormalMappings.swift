/// Unicode's mappings for normal forms, parsed once from text.
///
/// The text lists entries in order of their characters, all numbers in hexadecimal: `c0=41,300` maps U+00C0 to U+0041
/// U+0300. Without `c0=` the character is the one after the previous entry's, and `9~3` is three entries, the last of
/// which maps to U+000B. Hangul syllables are mapped by arithmetic (Unicode, section 3.12).
struct NormalMappings {
    /// Full mappings.
    private(set) var canonical: [Unicode.Scalar: [Unicode.Scalar]] = [:]
    /// Composition of two characters, indexed by both their numbers.
    private var compositions: [UInt64: Unicode.Scalar] = [:]

    static let all = NormalMappings()

    private init() {
        var steps: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        Self.read(Self.canonicalText) { scalar, parts, composes in
            steps[scalar] = parts
            if parts.count == 2, composes { compositions[Self.pair(parts[0], parts[1])] = scalar }
        }
        for (scalar, parts) in steps {
            var parts = parts
            while let first = steps[parts[0]] { parts.replaceSubrange(..<1, with: first) }
            canonical[scalar] = parts
        }
    }

    func decomposition(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        if 0xAC00...0xD7A3 ~= scalar.value {
            let index = scalar.value - 0xAC00
            let parts = [0x1100 + index / 588, 0x1161 + index % 588 / 28, 0x11A7 + index % 28]
            return parts.prefix(index % 28 == 0 ? 2 : 3).compactMap(Unicode.Scalar.init)
        }
        return canonical[scalar] ?? [scalar]
    }

    func composition(of first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        // No second character is smaller.
        if second.value < 0x300 { return nil }
        if 0x1161...0x11C2 ~= second.value { return Self.hangul(first.value, second.value) }
        return compositions[Self.pair(first, second)]
    }

    private static func pair(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> UInt64 {
        UInt64(first.value) << 32 | UInt64(second.value)
    }

    private static func hangul(_ first: UInt32, _ second: UInt32) -> Unicode.Scalar? {
        if 0x1100...0x1112 ~= first, 0x1161...0x1175 ~= second {
            return Unicode.Scalar(0xAC00 + ((first - 0x1100) * 21 + (second - 0x1161)) * 28)
        }
        if 0xAC00...0xD7A3 ~= first, (first - 0xAC00) % 28 == 0, 0x11A8...0x11C2 ~= second {
            return Unicode.Scalar(first + (second - 0x11A7))
        }
        return nil
    }

    // MARK: The text

    /// - Parameter entry: receives a character, its mapping, and whether that may be composed again.
    private static func read(
        _ text: StaticString, entry: (Unicode.Scalar, [Unicode.Scalar], _ composes: Bool) -> Void
    ) {
        var scalar: UInt32 = 0
        var parts: [UInt32] = []
        var number: UInt32 = 0
        var runs = false
        var composes = true
        func end() {
            if !runs { parts.append(number) }
            for index in 0..<(runs ? number : 1) {
                if let key = Unicode.Scalar(scalar) {
                    entry(key, parts.compactMap { Unicode.Scalar($0 + index) }, composes)
                }
                scalar += 1
            }
            (parts, number, runs, composes) = ([], 0, false, true)
        }
        text.withUTF8Buffer { bytes in
            for byte in bytes {
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt32(byte & 15)
                case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt32((byte & 15) + 9)
                case UInt8(ascii: "="): (scalar, number) = (number, 0)
                case UInt8(ascii: "!"): composes = false
                case UInt8(ascii: " "): end()
                default:
                    parts.append(number)
                    number = 0
                    if byte == UInt8(ascii: "~") { runs = true }
                }
            }
        }
        end()
    }
}
