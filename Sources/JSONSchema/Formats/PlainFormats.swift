enum PlainFormats {
    /// RFC 9562: 8-4-4-4-12 hexadecimal digits.
    static func isUUID(_ text: [UInt8]) -> Bool {
        text.count == 36
            && text.enumerated().allSatisfy { i, byte in
                [8, 13, 18, 23].contains(i) ? byte == UInt8(ascii: "-") : byte.isHexDigit
            }
    }

    /// RFC 6901.
    static func isJSONPointer(_ text: [UInt8]) -> Bool {
        JSONPointer.names(String(decoding: text, as: UTF8.self)) != nil
    }

    /// The IETF's draft: steps up, perhaps a shift of the index, and a pointer or `#`.
    static func isRelativeJSONPointer(_ text: [UInt8]) -> Bool {
        var rest = text[...]
        func number() -> Bool {
            let digits = rest.prefix { $0.isDigit }
            rest = rest.dropFirst(digits.count)
            return !digits.isEmpty && (digits.count == 1 || digits.first != UInt8(ascii: "0"))
        }
        guard number() else { return false }
        if let sign = rest.first, sign.isOne(of: "+-") {
            rest = rest.dropFirst()
            guard number() else { return false }
        }
        return Array(rest) == [UInt8(ascii: "#")] || isJSONPointer(Array(rest))
    }
}
