/// Writes JSON in one line, the members in the order of the calls: same values, same bytes.
public struct JSONWriter {
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    public init() {}

    public var text: String { String(decoding: bytes, as: UTF8.self) }

    public mutating func object(_ body: (inout JSONWriter) -> Void) {
        enclosed(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    }

    public mutating func array(_ body: (inout JSONWriter) -> Void) {
        enclosed(UInt8(ascii: "["), UInt8(ascii: "]"), body)
    }

    private mutating func enclosed(_ open: UInt8, _ close: UInt8, _ body: (inout JSONWriter) -> Void) {
        comma()
        bytes.append(open)
        needsComma = false
        body(&self)
        bytes.append(close)
        needsComma = true
    }

    /// A member's name; its value must follow.
    public mutating func key(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    public mutating func int<Number: BinaryInteger>(_ value: Number) { raw(String(value)) }

    public mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    public mutating func null() { raw("null") }

    /// The shortest text that reads back as the same number. JSON has no infinity: such become null.
    public mutating func number(_ value: Double) {
        value.isFinite ? raw(Self.plain(value.description)) : null()
    }

    public mutating func number(_ value: Float) {
        value.isFinite ? raw(Self.plain(value.description)) : null()
    }

    /// JSON that is already encoded.
    public mutating func raw(_ json: String) {
        comma()
        bytes.append(contentsOf: json.utf8)
        needsComma = true
    }

    public mutating func string(_ value: String) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { utf8 in
            var start = 0
            for index in utf8.indices {
                guard let escape = Self.escape(at: index, of: utf8) else { continue }
                bytes.append(contentsOf: utf8[start..<index])
                bytes.append(contentsOf: escape.text.utf8)
                start = index + escape.length
            }
            bytes.append(contentsOf: utf8[min(start, utf8.count)...])
        }
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    /// Besides what JSON demands, the characters that some readers take for line ends are escaped:
    /// U+0085, U+2028 and U+2029.
    private static func escape(at index: Int, of utf8: UnsafeBufferPointer<UInt8>) -> (
        text: String, length: Int
    )? {
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

    private static func plain(_ description: String) -> String {
        description.hasSuffix(".0") ? String(description.dropLast(2)) : description
    }
}
