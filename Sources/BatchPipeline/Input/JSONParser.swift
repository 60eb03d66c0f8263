import PhiModel

/// Why bytes are not JSON.
struct JSONProblem: Error {
    let message: String
}

/// Parses one JSON document: RFC 8259 to the letter, nesting bounded, no member twice in an object.
struct JSONParser {
    static let depthLimit = 128
    /// Values in one document: each takes some fifty bytes of memory, whatever it takes in the file.
    static let valueLimit = 1 << 20

    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0
    private var values = 0

    /// - Parameter bytes: UTF-8, already checked.
    static func parse(_ bytes: [UInt8]) throws(JSONProblem) -> TemplateValue {
        let result = bytes.withUnsafeBufferPointer { buffer -> Result<TemplateValue, JSONProblem> in
            var parser = JSONParser(bytes: buffer)
            do throws(JSONProblem) { return .success(try parser.document()) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private mutating func document() throws(JSONProblem) -> TemplateValue {
        skipSpace()
        let value = try value(depth: 0)
        skipSpace()
        guard index == bytes.count else { throw problem("something follows the JSON value") }
        return value
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private func problem(_ message: String) -> JSONProblem {
        JSONProblem(message: "\(message) at byte \(index + 1)")
    }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func value(depth: Int) throws(JSONProblem) -> TemplateValue {
        guard depth <= Self.depthLimit else { throw problem("nested too deeply") }
        values += 1
        guard values <= Self.valueLimit else { throw problem("more than \(Self.valueLimit) values") }
        guard let byte = current else { throw problem("ends too early") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw problem("no JSON value")
        }
    }

    private mutating func word(_ word: StaticString, _ value: TemplateValue) throws(JSONProblem)
        -> TemplateValue
    {
        let end = index + word.utf8CodeUnitCount
        let isThere =
            end <= bytes.count && word.withUTF8Buffer { bytes[index..<end].elementsEqual($0) }
        guard isThere else { throw problem("no JSON value") }
        index = end
        return value
    }

    private mutating func object(depth: Int) throws(JSONProblem) -> TemplateValue {
        var members: [TemplateMember] = []
        var seen: Set<[UInt8]> = []
        index += 1
        skipSpace()
        if current == UInt8(ascii: "}") {
            index += 1
            return .object([])
        }
        while true {
            guard current == UInt8(ascii: "\"") else { throw problem("a member's name is missing") }
            let key = try string()
            if isRepeated(key, in: members, &seen) {
                throw problem("the member \"\(key.prefix(40))\" comes twice")
            }
            skipSpace()
            guard current == UInt8(ascii: ":") else { throw problem("a colon is missing") }
            index += 1
            skipSpace()
            members.append(TemplateMember(name: key, value: try value(depth: depth + 1)))
            skipSpace()
            if try endsList(with: UInt8(ascii: "}")) { return .object(members) }
        }
    }

    /// Few members are compared one by one, many by their hashes; by bytes, not by canonical equivalence.
    private func isRepeated(
        _ key: String, in members: [TemplateMember], _ seen: inout Set<[UInt8]>
    ) -> Bool {
        if members.count < 16 { return members.contains { $0.name.utf8.elementsEqual(key.utf8) } }
        if members.count == 16 { seen = Set(members.map { Array($0.name.utf8) }) }
        return !seen.insert(Array(key.utf8)).inserted
    }

    private mutating func array(depth: Int) throws(JSONProblem) -> TemplateValue {
        var elements: [TemplateValue] = []
        index += 1
        skipSpace()
        if current == UInt8(ascii: "]") {
            index += 1
            return .array([])
        }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if try endsList(with: UInt8(ascii: "]")) { return .array(elements) }
        }
    }

    private mutating func endsList(with end: UInt8) throws(JSONProblem) -> Bool {
        if current == end {
            index += 1
            return true
        }
        guard current == UInt8(ascii: ",") else { throw problem("a comma or an end is missing") }
        index += 1
        skipSpace()
        return false
    }

    private mutating func number() throws(JSONProblem) -> TemplateValue {
        let start = index
        var isInteger = true
        func isDigit(_ byte: UInt8?) -> Bool { byte.map { $0 >= 0x30 && $0 <= 0x39 } ?? false }
        if current == UInt8(ascii: "-") { index += 1 }
        guard isDigit(current) else { throw problem("no JSON number") }
        if current == UInt8(ascii: "0") {
            index += 1
        } else {
            while isDigit(current) { index += 1 }
        }
        if current == UInt8(ascii: ".") {
            isInteger = false
            index += 1
            guard isDigit(current) else { throw problem("no JSON number") }
            while isDigit(current) { index += 1 }
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            isInteger = false
            index += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { index += 1 }
            guard isDigit(current) else { throw problem("no JSON number") }
            while isDigit(current) { index += 1 }
        }
        guard index - start <= 1000 else { throw problem("a number of more than 1000 digits") }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isInteger, let number = Int(text) { return .int(number) }
        guard let number = Double(text), number.isFinite else { throw problem("a number too large") }
        return .double(number)
    }

    private mutating func string() throws(JSONProblem) -> String {
        index += 1
        let start = index
        while let byte = current, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
            index += 1
        }
        if current == UInt8(ascii: "\"") {
            defer { index += 1 }
            return String(decoding: bytes[start..<index], as: UTF8.self)
        }
        var text = Array(bytes[start..<index])
        while true {
            guard let byte = current else { throw problem("a string without an end") }
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20: throw problem("a control character in a string")
            default:
                text.append(byte)
                index += 1
            }
        }
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONProblem) {
        index += 1
        guard let byte = current else { throw problem("a string without an end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = try hexadecimal()
            if (0xD800..<0xDC00).contains(code), current == UInt8(ascii: "\\"), index + 1 < bytes.count,
                bytes[index + 1] == UInt8(ascii: "u")
            {
                index += 2
                let low = try hexadecimal()
                guard (0xDC00..<0xE000).contains(low) else { throw problem("half a surrogate pair") }
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw problem("half a surrogate pair") }
            text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        default: throw problem("an unknown escape in a string")
        }
    }

    private mutating func hexadecimal() throws(JSONProblem) -> UInt32 {
        guard index + 4 <= bytes.count else { throw problem("an unknown escape in a string") }
        var code: UInt32 = 0
        for byte in bytes[index..<index + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                throw problem("an unknown escape in a string")
            }
            code = code << 4 | UInt32(digit)
        }
        index += 4
        return code
    }
}
