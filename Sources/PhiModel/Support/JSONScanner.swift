import Foundation

/// A pull scanner over JSON text (RFC 8259), for files too large to be turned into a tree of objects.
///
/// The caller says what it expects, in order. Strings come as bytes without a copy where they hold no
/// escape. UTF-8 is checked once for the whole text; nesting is limited.
struct JSONScanner {
    enum Kind: String {
        case object = "an object"
        case array = "an array"
        case string = "a string"
        case number = "a number"
        case bool = "true or false"
        case null
    }

    static let depthLimit = 64

    private let bytes: UnsafeBufferPointer<UInt8>
    private let path: String?
    private let unescaped = Unescaped()
    private var depth = 0
    /// Index of the next byte; may be set back to a value that was read here before.
    private(set) var position = 0

    /// Memory for strings with escapes; a class so that the bytes stay put while the scanner is passed on.
    private final class Unescaped {
        var bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 256)
        var count = 0

        func append(_ byte: UInt8) {
            if count == bytes.count {
                let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 2 * count)
                _ = larger.update(fromContentsOf: bytes)
                bytes.deallocate()
                bytes = larger
            }
            bytes[count] = byte
            count += 1
        }

        deinit { bytes.deallocate() }
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>, path: String?) {
        self.bytes = bytes
        self.path = path
    }

    /// Runs `body` over `data`, which must hold exactly one JSON value.
    /// - Throws: `ModelError` of kind `malformed` with line and column.
    static func scan<Result>(
        _ data: Data, path: String?, _ body: (inout JSONScanner) throws -> Result
    ) throws -> Result {
        try data.withUnsafeBytes { raw in
            try raw.withMemoryRebound(to: UInt8.self) { bytes in
                var scanner = JSONScanner(bytes, path: path)
                if let error = UTF8Bytes.firstError(in: bytes) {
                    throw scanner.fault("not UTF-8", at: error)
                }
                let result = try body(&scanner)
                scanner.skipSpace()
                guard scanner.position == bytes.count else {
                    throw scanner.fault("expected the end of the file")
                }
                return result
            }
        }
    }

    /// An error at `offset`, or at the current position.
    func fault(_ message: String, at offset: Int? = nil) -> ModelError {
        let end = min(offset ?? position, bytes.count)
        var line = 1
        var lineStart = 0
        for i in 0..<end where bytes[i] == 0x0A {
            line += 1
            lineStart = i + 1
        }
        return ModelError(
            .malformed, path: path, "line \(line), column \(end - lineStart + 1): \(message)")
    }

    /// Continues at a position taken from `position` at the same nesting depth.
    mutating func seek(to position: Int) { self.position = position }

    // MARK: Values

    /// What kind of value comes next; stays before it.
    mutating func peek() throws -> Kind {
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"): return .number
        case let digit? where 0x30...0x39 ~= digit: return .number
        case nil: throw fault("the file ends where a value should be")
        default: throw fault("expected a value")
        }
    }

    /// Calls `member` for each key, placed before its value, which it must consume. The key's bytes are
    /// valid until the next string is read.
    mutating func object(
        _ member: (inout JSONScanner, UnsafeBufferPointer<UInt8>) throws -> Void
    ) throws {
        try open(.object)
        if take(UInt8(ascii: "}")) { return close() }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw fault("expected a key in quotes") }
            let key = try stringBytes()
            guard take(UInt8(ascii: ":")) else { throw fault("expected ':'") }
            try member(&self, key)
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "}")) else { throw fault("expected ',' or '}'") }
            return close()
        }
    }

    /// Calls `element` before each element, which it must consume.
    mutating func array(_ element: (inout JSONScanner) throws -> Void) throws {
        try open(.array)
        if take(UInt8(ascii: "]")) { return close() }
        while true {
            try element(&self)
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "]")) else { throw fault("expected ',' or ']'") }
            return close()
        }
    }

    /// A string's UTF-8 without escapes; valid until the next string is read.
    mutating func stringBytes() throws -> UnsafeBufferPointer<UInt8> {
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
        unescaped.count = 0
        for k in start..<i { unescaped.append(bytes[k]) }
        position = i
        try unescape()
        return UnsafeBufferPointer(rebasing: unescaped.bytes[..<unescaped.count])
    }

    mutating func string() throws -> String { String(decoding: try stringBytes(), as: UTF8.self) }

    mutating func bool() throws -> Bool {
        try expect(.bool)
        if takeWord("true") { return true }
        if takeWord("false") { return false }
        throw fault("expected true or false")
    }

    mutating func null() throws {
        try expect(.null)
        guard takeWord("null") else { throw fault("expected null") }
    }

    /// A whole number without fraction or exponent.
    mutating func integer() throws -> Int {
        let start = position
        let text = try numberBytes()
        guard let value = Int(String(decoding: text, as: UTF8.self)) else {
            throw fault("expected a whole number of at most 64 bits", at: start)
        }
        return value
    }

    mutating func number() throws -> Double {
        let start = position
        let text = try numberBytes()
        guard let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else {
            throw fault("this number is too large", at: start)
        }
        return value
    }

    /// The bytes of a number that obeys JSON's grammar.
    mutating func numberBytes() throws -> UnsafeBufferPointer<UInt8> {
        try expect(.number)
        let start = position
        func isDigit(_ byte: UInt8?) -> Bool { byte.map { $0 &- 0x30 < 10 } ?? false }
        func digits() throws {
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
        return UnsafeBufferPointer(rebasing: bytes[start..<position])
    }

    /// Steps over one value of any kind.
    mutating func skip() throws {
        switch try peek() {
        case .object: try object { scanner, _ in try scanner.skip() }
        case .array: try array { try $0.skip() }
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

    private mutating func expect(_ kind: Kind) throws {
        let found = try peek()
        guard found == kind else { throw fault("expected \(kind.rawValue), found \(found.rawValue)") }
    }

    private mutating func open(_ kind: Kind) throws {
        try expect(kind)
        guard depth < Self.depthLimit else {
            throw fault("nested more than \(Self.depthLimit) levels deep")
        }
        depth += 1
        position += 1
    }

    private mutating func close() { depth -= 1 }

    // MARK: Escapes

    /// Reads on, from the first backslash to the closing quote.
    private mutating func unescape() throws {
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
        throw fault("the file ends inside a string")
    }

    private mutating func unescapeScalar() throws {
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

    private mutating func hexQuad() throws -> UInt32 {
        guard position + 4 <= bytes.count else { throw fault("the file ends inside a string") }
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
