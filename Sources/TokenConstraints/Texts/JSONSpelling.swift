/// Spelling of strings in answers: each in one way, so that texts are compared by their bytes.
///
/// All characters are UTF-8 except the quotation mark, the backslash and U+0000 to U+001F, which have the short escape
/// if there is one, and else `\u00` with two lower-case digits.
package enum JSONSpelling {
    /// The text between the quotes.
    package static func contents(of text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if let escape = escape(byte) { bytes += escape } else { bytes.append(byte) }
        }
        return bytes
    }

    /// The escape of an ASCII character; nil if it needs none.
    static func escape(_ byte: UInt8) -> [UInt8]? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
        case 0x08: Array(#"\b"#.utf8)
        case 0x09: Array(#"\t"#.utf8)
        case 0x0A: Array(#"\n"#.utf8)
        case 0x0C: Array(#"\f"#.utf8)
        case 0x0D: Array(#"\r"#.utf8)
        case 0..<0x20: Array(#"\u00"#.utf8) + [0x30 + byte >> 4, hexDigit(byte & 15)]
        default: nil
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : UInt8(ascii: "a") + value - 10
    }
}
