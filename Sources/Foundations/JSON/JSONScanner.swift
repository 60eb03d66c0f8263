/// A pull scanner over JSON text (RFC 8259 to the letter), the one that reads all of phibatch's JSON.
///
/// The caller says what it expects, in order, so that no large file has to become a tree of values; `value()`
/// makes a tree of what is small. Strings come as bytes, without a copy where they hold no escape. UTF-8 is
/// checked once for the whole text; nesting is bounded.
package struct JSONScanner {
    package enum Kind: String, Sendable {
        case object = "an object"
        case array = "an array"
        case string = "a string"
        case number = "a number"
        case bool = "true or false"
        case null
    }

    private static let longestNumber = 1000

    private let bytes: UnsafeBufferPointer<UInt8>
    private let limits: JSONLimits
    private var values = 0
    private let unescaped = Unescaped()
    private var depth = 0
    /// Index of the next byte; may be set back to a value that was read here before.
    package private(set) var position = 0

    /// Memory for strings with escapes; a class so that the bytes stay put while the scanner is passed on.
    private final class Unescaped {
        var bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 256)
        var count = 0

        /// Forgets what it holds, and makes room: growing bit by bit would have a long string in memory twice.
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

    private init(_ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    /// Runs `body` over `text`, which must hold exactly one JSON value.
    /// - Throws: `JSONFault`, and what `body` throws.
    package static func scan<Result>(
        _ text: UnsafeRawBufferPointer, limits: JSONLimits, _ body: (inout JSONScanner) throws -> Result
    ) throws -> Result {
        try text.withMemoryRebound(to: UInt8.self) { bytes in
            var scanner = JSONScanner(bytes, limits: limits)
            try scanner.begin()
            let result = try body(&scanner)
            try scanner.end()
            return result
        }
    }

    /// The one value that `text` holds, as a tree.
    package static func value(
        of text: UnsafeRawBufferPointer, limits: JSONLimits
    ) throws(JSONFault) -> JSONValue {
        let result = text.withMemoryRebound(to: UInt8.self) { bytes in
            Result { () throws(JSONFault) in
                var scanner = JSONScanner(bytes, limits: limits)
                try scanner.begin()
                let value = try scanner.value()
                try scanner.end()
                return value
            }
        }
        return try result.get()
    }

    private func begin() throws(JSONFault) {
        if let error = UTF8Bytes.firstError(in: bytes) { throw fault("not UTF-8", at: error) }
    }

    private mutating func end() throws(JSONFault) {
        skipSpace()
        guard position == bytes.count else { throw fault("something follows the JSON value") }
    }

    /// A fault at `offset`, or at the current position.
    package func fault(_ message: String, at offset: Int? = nil) -> JSONFault {
        let end = min(offset ?? position, bytes.count)
        var line = 1
        var lineStart = 0
        for i in 0..<end where bytes[i] == 0x0A {
            line += 1
            lineStart = i + 1
        }
        return JSONFault(message, offset: end, line: line, column: end - lineStart + 1)
    }

    /// Continues at a position taken from `position` at the same nesting depth.
    package mutating func seek(to position: Int) { self.position = position }

    // MARK: Values

    /// One value as a tree. A name that stands twice in an object is an error: two readers could see two
    /// values.
    package mutating func value() throws(JSONFault) -> JSONValue {
        let kind = try peek()
        values += 1
        guard values <= limits.values else { throw fault("more than \(limits.values) values") }
        switch kind {
        case .null:
            try null()
            return .null
        case .bool: return .bool(try bool())
        case .string: return .string(try string())
        case .number:
            let start = position
            let text = String(decoding: try numberBytes(), as: UTF8.self)
            if let integer = Int(text) { return .int(integer) }
            guard let number = Double(text), number.isFinite else {
                throw fault("this number is too large", at: start)
            }
            return .double(number)
        case .array:
            var elements: [JSONValue] = []
            try open(.array)
            while try hasNext(elements.isEmpty, end: UInt8(ascii: "]")) { elements.append(try value()) }
            return .array(elements)
        case .object:
            var members = JSONObject()
            try open(.object)
            while try hasNext(members.isEmpty, end: UInt8(ascii: "}")) {
                skipSpace()
                let start = position
                let name = String(decoding: try key(), as: UTF8.self)
                guard members.insert(try value(), for: name) else {
                    throw fault("the name \(name.debugDescription.prefix(60)) stands twice", at: start)
                }
            }
            return .object(members)
        }
    }

    /// What kind of value comes next; stays before it.
    package mutating func peek() throws(JSONFault) -> Kind {
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"): return .number
        case let digit? where 0x30...0x39 ~= digit: return .number
        case nil: throw fault("the text ends where a value should be")
        default: throw fault("expected a value")
        }
    }

    /// Calls `member` for each key, placed before its value, which it must consume. The key's bytes are
    /// valid until the next string is read.
    package mutating func object(
        _ member: (inout JSONScanner, UnsafeBufferPointer<UInt8>) throws -> Void
    ) throws {
        try open(.object)
        var isFirst = true
        while try hasNext(isFirst, end: UInt8(ascii: "}")) {
            isFirst = false
            try member(&self, try key())
        }
    }

    /// Calls `element` before each element, which it must consume.
    package mutating func array(_ element: (inout JSONScanner) throws -> Void) throws {
        try open(.array)
        var isFirst = true
        while try hasNext(isFirst, end: UInt8(ascii: "]")) {
            isFirst = false
            try element(&self)
        }
    }

    /// Steps to the next element of an open array or object; past its end if there is none.
    private mutating func hasNext(_ isFirst: Bool, end: UInt8) throws(JSONFault) -> Bool {
        if take(end) {
            depth -= 1
            return false
        }
        guard isFirst || take(UInt8(ascii: ",")) else {
            throw fault("expected ',' or '\(Character(Unicode.Scalar(end)))'")
        }
        return true
    }

    private mutating func key() throws(JSONFault) -> UnsafeBufferPointer<UInt8> {
        skipSpace()
        guard current == UInt8(ascii: "\"") else { throw fault("expected a name in quotes") }
        let key = try stringBytes()
        guard take(UInt8(ascii: ":")) else { throw fault("expected ':'") }
        return key
    }

    /// A string's UTF-8 without escapes; valid until the next string is read.
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

    /// A whole number without fraction or exponent.
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

    /// The bytes of a number that obeys JSON's grammar.
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
        guard position - start <= Self.longestNumber else {
            throw fault("a number of more than \(Self.longestNumber) characters", at: start)
        }
        return UnsafeBufferPointer(rebasing: bytes[start..<position])
    }

    /// Steps over one value of any kind.
    package mutating func skip() throws(JSONFault) {
        switch try peek() {
        case .object:
            try open(.object)
            var isFirst = true
            while try hasNext(isFirst, end: UInt8(ascii: "}")) {
                isFirst = false
                _ = try key()
                try skip()
            }
        case .array:
            try open(.array)
            var isFirst = true
            while try hasNext(isFirst, end: UInt8(ascii: "]")) {
                isFirst = false
                try skip()
            }
        case .string: _ = try stringBytes()
        case .number: _ = try numberBytes()
        case .bool: _ = try bool()
        case .null: try null()
        }
    }

    // MARK: Pieces

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard current == byte else { return false }
        position += 1
        return true
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        guard position + word.utf8CodeUnitCount <= bytes.count else { return false }
        for i in 0..<word.utf8CodeUnitCount where bytes[position + i] != word.utf8Start[i] {
            return false
        }
        position += word.utf8CodeUnitCount
        return true
    }

    private mutating func expect(_ kind: Kind) throws(JSONFault) {
        let found = try peek()
        guard found == kind else { throw fault("expected \(kind.rawValue), found \(found.rawValue)") }
    }

    private mutating func open(_ kind: Kind) throws(JSONFault) {
        try expect(kind)
        guard depth < limits.depth else { throw fault("nested more than \(limits.depth) levels deep") }
        depth += 1
        position += 1
    }

    // MARK: Escapes

    /// Bytes up to the string's end, no fewer than it has without escapes.
    private func rawLength(from start: Int) -> Int {
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(end, bytes.count) - start
    }

    /// Reads on, from the first backslash to the closing quote.
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
