extension JSONScanner {
    /// Reads a string as UTF-8 without escapes; valid until the next string is read.
    package mutating func stringBytes() throws(JSONFault) -> UnsafeBufferPointer<UInt8> {
        try expect(.string)
        let start = position + 1
        var i = start
        while i < bytes.count, bytes[i] != UInt8(ascii: "\""), bytes[i] != UInt8(ascii: "\\"),
            bytes[i] >= 0x20
        {
            i += 1
        }
        if i < bytes.count, bytes[i] == UInt8(ascii: "\"") {
            position = i + 1
            return UnsafeBufferPointer(rebasing: bytes[start..<i])
        }
        unescaped.begin(rawLength(from: i) + i - start)
        for k in start..<i { unescaped.append(bytes[k]) }
        position = i
        try unescape()
        return UnsafeBufferPointer(rebasing: unescaped.bytes[..<unescaped.count])
    }

    package mutating func string() throws(JSONFault) -> String {
        String(decoding: try stringBytes(), as: UTF8.self)
    }

    /// Returns the number of bytes up to the string's end, at least its unescaped length.
    private func rawLength(from start: Int) -> Int {
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(end, bytes.count) - start
    }

    /// Unescapes from the first backslash to the closing quote.
    private mutating func unescape() throws(JSONFault) {
        while position < bytes.count {
            let byte = bytes[position]
            if byte < 0x20 { throw fault("a control character in a string must be escaped") }
            position += 1
            if byte == UInt8(ascii: "\"") { return }
            guard byte == UInt8(ascii: "\\") else {
                unescaped.append(byte)
                continue
            }
            guard let escape = current else { break }
            position += 1
            switch escape {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(escape)
            case UInt8(ascii: "b"): unescaped.append(0x08)
            case UInt8(ascii: "f"): unescaped.append(0x0C)
            case UInt8(ascii: "n"): unescaped.append(0x0A)
            case UInt8(ascii: "r"): unescaped.append(0x0D)
            case UInt8(ascii: "t"): unescaped.append(0x09)
            case UInt8(ascii: "u"): try unescapeScalar()
            default: throw fault("unknown escape in a string", at: position - 2)
            }
        }
        throw fault("the text ends inside a string")
    }

    private mutating func unescapeScalar() throws(JSONFault) {
        let start = position - 2
        var value = try hexQuad()
        if 0xD800...0xDBFF ~= value, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        {
            position += 2
            let low = try hexQuad()
            guard 0xDC00...0xDFFF ~= low else { throw fault("half a surrogate pair", at: start) }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw fault("half a surrogate pair", at: start) }
        for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { unescaped.append(unit) }
    }

    private mutating func hexQuad() throws(JSONFault) -> UInt32 {
        guard position + 4 <= bytes.count else { throw fault("the text ends inside a string") }
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else {
                throw fault("expected four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}

/// Memory for strings with escapes; a class, so that the bytes keep their address when the scanner is copied.
final class UnescapedString {
    var bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 256)
    var count = 0

    /// Clears it and reserves memory: gradual growth would hold a long string twice.
    func begin(_ capacity: Int) {
        count = 0
        guard capacity > bytes.count else { return }
        bytes.deallocate()
        bytes = .allocate(capacity: capacity)
    }

    func append(_ byte: UInt8) {
        bytes[count] = byte
        count += 1
    }

    deinit { bytes.deallocate() }
}
