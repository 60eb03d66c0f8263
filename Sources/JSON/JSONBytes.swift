import FoundationShim

/// Encoding of JSON into bytes, for `JSONWriter` and for callers that assemble JSON themselves.
package enum JSONBytes {
    /// Appends a JSON string. The same text always gives the same bytes. Besides the characters that JSON demands,
    /// those that some readers take for line ends are escaped: U+0085, U+2028 and U+2029.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            var (start, index) = (0, 0)
            while index < utf8.count {
                if index + 8 <= utf8.count,
                    arePlain(
                        UnsafeRawBufferPointer(utf8).loadUnaligned(fromByteOffset: index, as: UInt64.self))
                {
                    index += 8
                } else if let (escape, length) = escape(at: index, of: utf8) {
                    bytes.append(contentsOf: utf8[start..<index])
                    bytes.append(contentsOf: escape.utf8)
                    index += length
                    start = index
                } else {
                    index += 1
                }
            }
            bytes.append(contentsOf: utf8[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether eight bytes are ASCII that needs no escape. (A byte is below a limit, or zero, if the subtraction borrows.)
    private static func arePlain(_ bytes: UInt64) -> Bool {
        let (ones, highest) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        func has(_ byte: UInt64) -> UInt64 {
            let rest = bytes ^ (ones &* byte)
            return (rest &- ones) & ~rest
        }
        let controls = (bytes &- ones &* 0x20) & ~bytes
        return (bytes | controls | has(0x22) | has(0x5C) | has(0x7F)) & highest == 0
    }

    private static func escape(at index: Int, of utf8: UnsafeBufferPointer<UInt8>) -> (String, Int)? {
        switch utf8[index] {
        case UInt8(ascii: "\""): return ("\\\"", 1)
        case UInt8(ascii: "\\"): return ("\\\\", 1)
        case 0x0A: return ("\\n", 1)
        case 0x0D: return ("\\r", 1)
        case 0x09: return ("\\t", 1)
        case 0x08: return ("\\b", 1)
        case 0x0C: return ("\\f", 1)
        case 0..<0x20, 0x7F: return (unicodeEscape(UInt32(utf8[index])), 1)
        case 0xC2 where index + 1 < utf8.count && utf8[index + 1] == 0x85: return (unicodeEscape(0x85), 2)
        case 0xE2 where index + 2 < utf8.count && utf8[index + 1] == 0x80 && utf8[index + 2] & 0xFE == 0xA8:
            return (unicodeEscape(0x2000 + UInt32(utf8[index + 2] & 0x3F)), 3)
        default: return nil
        }
    }

    private static func unicodeEscape(_ code: UInt32) -> String {
        let digits = String(code, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// Returns JSON in which values without quotes, numbers and words such as `true`, have quotes.
    /// - Parameter isMeant: whether to quote one by its first character after the sign.
    package static func quotingBareWords(in json: some Sequence<UInt8>, where isMeant: (UInt8) -> Bool)
        -> [UInt8]
    {
        let quote = UInt8(ascii: "\"")
        var (made, word) = ([UInt8](), [UInt8]())
        var (isText, isEscaped) = (false, false)
        func end() {
            let begins = word.first { $0 != UInt8(ascii: "-") }
            made += begins.map(isMeant) == true ? [quote] + word + [quote] : word
            word = []
        }
        for byte in json {
            if isText {
                made.append(byte)
                if !isEscaped, byte == quote { isText = false }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte == quote || byte <= 0x20 || "[]{}:,".utf8.contains(byte) {
                end()
                made.append(byte)
                isText = byte == quote
            } else {
                word.append(byte)
            }
        }
        end()
        return made
    }

    /// Appends sixteen lower-case hexadecimal digits.
    package static func appendHex(_ value: UInt64, to bytes: inout [UInt8]) {
        for digit in stride(from: 60, through: 0, by: -4) {
            bytes.append(hexDigit(value >> UInt64(digit) & 15))
        }
    }

    /// Returns sixteen lower-case hexadecimal digits.
    package static func hex(_ value: UInt64) -> String {
        var bytes: [UInt8] = []
        appendHex(value, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexDigit(_ value: UInt64) -> UInt8 {
        UInt8(value) + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether these are the bytes of `text`.
    package func spells(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for index in 0..<count where self[index] != text.utf8Start[index] { return false }
        return true
    }
}
