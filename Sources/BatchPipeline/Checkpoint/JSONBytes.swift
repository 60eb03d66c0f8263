/// The little JSON that the checkpoint's files need, as bytes.
enum JSONBytes {
    /// Appends a JSON string. The same text always gives the same bytes. Besides what JSON demands, the
    /// characters that some readers take for line ends are escaped.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            guard let byte = scalar.isASCII ? UInt8(scalar.value) : nil else {
                switch scalar.value {
                case 0x85: bytes.append(contentsOf: #"\u0085"#.utf8)
                case 0x2028: bytes.append(contentsOf: #"\u2028"#.utf8)
                case 0x2029: bytes.append(contentsOf: #"\u2029"#.utf8)
                default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): bytes.append(contentsOf: #"\""#.utf8)
            case UInt8(ascii: "\\"): bytes.append(contentsOf: #"\\"#.utf8)
            case 0x0a: bytes.append(contentsOf: #"\n"#.utf8)
            case 0x0d: bytes.append(contentsOf: #"\r"#.utf8)
            case 0x09: bytes.append(contentsOf: #"\t"#.utf8)
            case 0..<0x20, 0x7f:
                bytes.append(contentsOf: #"\u00"#.utf8)
                bytes.append(hexDigit(UInt64(byte) >> 4))
                bytes.append(hexDigit(UInt64(byte) & 15))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends sixteen lower-case hexadecimal digits.
    static func appendHex(_ value: UInt64, to bytes: inout [UInt8]) {
        for digit in stride(from: 60, through: 0, by: -4) {
            bytes.append(hexDigit(value >> UInt64(digit) & 15))
        }
    }

    static func appendDecimal(_ value: Int, to bytes: inout [UInt8]) {
        guard value >= 10 else {
            bytes.append(UInt8(ascii: "0") + UInt8(value))
            return
        }
        appendDecimal(value / 10, to: &bytes)
        bytes.append(UInt8(ascii: "0") + UInt8(value % 10))
    }

    private static func hexDigit(_ value: UInt64) -> UInt8 {
        UInt8(value) + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }
}

extension StaticString {
    /// The offset of this text's first occurrence. The search goes by the character at `anchor`, which
    /// should be a rare one.
    func firstOffset(in bytes: UnsafeRawBufferPointer, from start: Int = 0, anchor: Int = 0) -> Int? {
        let sought = UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
        var position = start + anchor
        while position < bytes.count,
            let hit = Platform.find(sought[anchor], in: UnsafeRawBufferPointer(rebasing: bytes[position...]))
        {
            let first = position + hit - anchor
            if first + sought.count > bytes.count { return nil }
            if Platform.areEqual(
                UnsafeRawBufferPointer(rebasing: bytes[first..<first + sought.count]), sought)
            {
                return first
            }
            position += hit + 1
        }
        return nil
    }
}

/// Reads known things at known places from bytes of unknown origin. Each method says nil (or false)
/// and leaves `position` anywhere if they aren't there.
struct ByteCursor {
    let bytes: UnsafeRawBufferPointer
    var position = 0

    mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        let expected = UnsafeRawBufferPointer(start: text.utf8Start, count: count)
        guard
            Platform.areEqual(UnsafeRawBufferPointer(rebasing: bytes[position..<position + count]), expected)
        else { return false }
        position += count
        return true
    }

    mutating func hex() -> UInt64? {
        guard bytes.count - position >= 16 else { return nil }
        var value: UInt64 = 0
        for index in position..<position + 16 {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                value = value << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        position += 16
        return value
    }

    mutating func decimal() -> Int? {
        let start = position
        var value = 0
        while position < bytes.count, position - start < 18, case let digit = bytes[position] &- 48,
            digit < 10
        {
            value = value * 10 + Int(digit)
            position += 1
        }
        return position > start ? value : nil
    }

    /// A JSON string; its range with the quotes. Escapes are stepped over, not checked.
    mutating func string() -> Range<Int>? {
        let start = position
        guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else { return nil }
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return start..<position
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
        return nil
    }
}
