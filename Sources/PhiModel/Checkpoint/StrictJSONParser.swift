/// Recursive descent over bytes; the recursion is bounded by `StrictJSON.maximumDepth`.
struct StrictJSONParser {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var values = 0

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func document() throws(StrictJSON.Fault) -> StrictJSON {
        let value = try value(depth: 0)
        skipWhitespace()
        guard position == bytes.count else { throw fault("something follows the end of the document") }
        return value
    }

    private func fault(_ message: String) -> StrictJSON.Fault {
        StrictJSON.Fault(offset: position, message: message)
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipWhitespace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(StrictJSON.Fault) -> StrictJSON {
        skipWhitespace()
        values += 1
        guard values <= StrictJSON.maximumValues else {
            throw fault("more than \(StrictJSON.maximumValues) values")
        }
        guard let byte = current else { throw fault("the document ends where a value is expected") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: throw fault("this is not the start of a JSON value")
        }
    }

    private mutating func literal(_ word: StaticString, _ value: StrictJSON) throws(StrictJSON.Fault)
        -> StrictJSON
    {
        for index in 0..<word.utf8CodeUnitCount {
            guard take(word.utf8Start[index]) else { throw fault("expected \(word)") }
        }
        return value
    }

    private mutating func enter(depth: Int) throws(StrictJSON.Fault) {
        guard depth <= StrictJSON.maximumDepth else {
            throw fault("nested deeper than \(StrictJSON.maximumDepth) levels")
        }
        position += 1
        skipWhitespace()
    }

    private mutating func object(depth: Int) throws(StrictJSON.Fault) -> StrictJSON {
        try enter(depth: depth)
        var members: [String: StrictJSON] = [:]
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipWhitespace()
            guard current == UInt8(ascii: "\"") else { throw fault("expected a key in quotes") }
            let start = position
            let key = try string()
            skipWhitespace()
            guard take(UInt8(ascii: ":")) else { throw fault("expected a colon after the key") }
            guard members.updateValue(try value(depth: depth), forKey: key) == nil else {
                throw StrictJSON.Fault(
                    offset: start, message: "the key \"\(key)\" occurs twice in one object")
            }
            skipWhitespace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw fault("expected a comma or the end of the object") }
        }
    }

    private mutating func array(depth: Int) throws(StrictJSON.Fault) -> StrictJSON {
        try enter(depth: depth)
        var elements: [StrictJSON] = []
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value(depth: depth))
            skipWhitespace()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw fault("expected a comma or the end of the array") }
        }
    }

    private mutating func digits() throws(StrictJSON.Fault) {
        let start = position
        while let byte = current, byte >= 0x30, byte <= 0x39 { position += 1 }
        guard position > start else { throw fault("expected a digit") }
    }

    private mutating func number() throws(StrictJSON.Fault) -> StrictJSON {
        let start = position
        var isInteger = true
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) {
            isInteger = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        guard position - start <= 1000 else { throw fault("a number of more than 1000 characters") }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let value = Int(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else {
            throw fault("the number \(text) is out of range")
        }
        return .real(value)
    }

    private mutating func string() throws(StrictJSON.Fault) -> String {
        position += 1
        let start = position
        var unescaped: [UInt8]?  // only made if there is an escape
        while true {
            guard let byte = current else { throw fault("the document ends inside a string") }
            switch byte {
            case UInt8(ascii: "\""):
                let raw = bytes[start..<position]
                let text =
                    if let unescaped { String(validating: unescaped, as: UTF8.self) } else {
                        String(validating: raw, as: UTF8.self)
                    }
                guard let text else { throw fault("a string is not valid UTF-8") }
                position += 1
                return text
            case UInt8(ascii: "\\"):
                if unescaped == nil { unescaped = Array(bytes[start..<position]) }
                position += 1
                let scalar = try escape()
                unescaped?.append(contentsOf: Array(String(scalar).utf8))
            case 0..<0x20: throw fault("a control character inside a string")
            default:
                unescaped?.append(byte)
                position += 1
            }
        }
    }

    private mutating func escape() throws(StrictJSON.Fault) -> Unicode.Scalar {
        guard let byte = current else { throw fault("the document ends inside a string") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try hexadecimal()
            if let scalar = Unicode.Scalar(first) { return scalar }
            guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
                throw fault("half of a surrogate pair")
            }
            let second = try hexadecimal()
            guard (0xDC00..<0xE000).contains(second),
                let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
            else { throw fault("half of a surrogate pair") }
            return scalar
        default: throw fault("an unknown escape in a string")
        }
    }

    private mutating func hexadecimal() throws(StrictJSON.Fault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("expected four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
