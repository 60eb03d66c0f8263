private let longestNumber = 1000

extension JSONScanner {
    package mutating func bool() throws(JSONFault) -> Bool {
        try expect(.bool)
        if takeWord("true") { return true }
        if takeWord("false") { return false }
        throw fault("expected true or false")
    }

    package mutating func null() throws(JSONFault) {
        try expect(.null)
        guard takeWord("null") else { throw fault("expected null") }
    }

    /// Reads a whole number without fraction or exponent.
    package mutating func integer() throws(JSONFault) -> Int {
        let start = position
        let text = try numberBytes()
        guard let value = Int(String(decoding: text, as: UTF8.self)) else {
            throw fault("expected a whole number of at most 64 bits", at: start)
        }
        return value
    }

    package mutating func number() throws(JSONFault) -> Double {
        let start = position
        let text = try numberBytes()
        guard let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else {
            throw fault("this number is too large", at: start)
        }
        return value
    }

    /// Reads the bytes of a number by JSON's grammar.
    package mutating func numberBytes() throws(JSONFault) -> UnsafeBufferPointer<UInt8> {
        try expect(.number)
        let start = position
        func isDigit(_ byte: UInt8?) -> Bool { byte.map { $0 &- 0x30 < 10 } ?? false }
        func digits() throws(JSONFault) {
            guard isDigit(current) else { throw fault("expected a digit") }
            while isDigit(current) { position += 1 }
        }
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") {
            position += 1
            if isDigit(current) { throw fault("a number must not begin with 0") }
        } else {
            try digits()
        }
        if current == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        guard position - start <= longestNumber else {
            throw fault("a number of more than \(longestNumber) characters", at: start)
        }
        return UnsafeBufferPointer(rebasing: bytes[start..<position])
    }
}
