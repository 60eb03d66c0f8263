import FoundationShim

/// A pull scanner over JSON text (strictly RFC 8259), which reads all of phibatch's JSON.
///
/// The caller asks for what it expects, in order, so that no large file has to become a tree; `value()` makes a tree of
/// a small part. Strings come as bytes, without a copy unless they have escapes. UTF-8 is checked once for the whole
/// text; nesting is bounded.
package struct JSONScanner {
    package enum Reason: String, Sendable {
        case object = "an object"
        case array = "an array"
        case string = "a string"
        case number = "a number"
        case bool = "true or false"
        case null
    }

    let bytes: UnsafeBufferPointer<UInt8>
    let limits: JSONLimits
    var values = 0
    let unescaped = UnescapedString()
    private var depth = 0
    /// Whether an array or object was opened last.
    private var isAtStart = false
    /// Index of the next byte; may be set back to an earlier value of the same text.
    package internal(set) var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    /// Runs `body` over `text`, which must hold exactly one JSON value.
    /// - Throws: `JSONFault`, and the errors of `body`.
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

    func begin() throws(JSONFault) {
        if let error = UTF8Bytes.firstError(in: bytes) { throw fault("not UTF-8", at: error) }
    }

    mutating func end() throws(JSONFault) {
        skipSpace()
        guard position == bytes.count else { throw fault("something follows the JSON value") }
    }

    /// Returns a fault at `offset`, or at the current position.
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

    /// Continues at an earlier `position` of the same nesting depth.
    package mutating func seek(to position: Int) { self.position = position }

    // MARK: Values

    /// Returns the kind of the next value, without reading it.
    package mutating func peek() throws(JSONFault) -> Reason {
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
        case UInt8(ascii: "N"): throw fault("NaN and None are not JSON, where null stands for no value")
        default: throw fault("expected a value")
        }
    }

    /// Calls `member` for each key, before its value, which it must consume. The key's bytes are valid until the next
    /// string is read.
    package mutating func object(
        _ member: (inout JSONScanner, UnsafeBufferPointer<UInt8>) throws -> Void
    ) throws {
        try open(.object)
        while try hasNext(end: UInt8(ascii: "}")) {
            try member(&self, try key())
        }
    }

    /// Calls `element` before each element, which it must consume.
    package mutating func array(_ element: (inout JSONScanner) throws -> Void) throws {
        try open(.array)
        while try hasNext(end: UInt8(ascii: "]")) { try element(&self) }
    }

    /// Moves to the next element of an open array or object, or past its end.
    mutating func hasNext(end: UInt8) throws(JSONFault) -> Bool {
        let isFirst = isAtStart
        isAtStart = false
        if take(end) {
            depth -= 1
            return false
        }
        guard isFirst || take(UInt8(ascii: ",")) else {
            throw fault("expected ',' or '\(Character(Unicode.Scalar(end)))'")
        }
        return true
    }

    mutating func key() throws(JSONFault) -> UnsafeBufferPointer<UInt8> {
        skipSpace()
        guard current == UInt8(ascii: "\"") else { throw fault("expected a name in quotes") }
        let key = try stringBytes()
        guard take(UInt8(ascii: ":")) else { throw fault("expected ':'") }
        return key
    }

    /// Skips one value of any kind.
    /// - Returns: its JSON, as written.
    package mutating func skippedText() throws(JSONFault) -> String {
        skipSpace()
        let start = position
        try skip()
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Skips one value of any kind.
    package mutating func skip() throws(JSONFault) {
        switch try peek() {
        case .object:
            try open(.object)
            while try hasNext(end: UInt8(ascii: "}")) {
                _ = try key()
                try skip()
            }
        case .array:
            try open(.array)
            while try hasNext(end: UInt8(ascii: "]")) { try skip() }
        case .string: _ = try stringBytes()
        case .number: _ = try numberBytes()
        case .bool: _ = try bool()
        case .null: try null()
        }
    }

    // MARK: Pieces

    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skipSpace() {
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

    mutating func takeWord(_ word: StaticString) -> Bool {
        guard position + word.utf8CodeUnitCount <= bytes.count else { return false }
        for i in 0..<word.utf8CodeUnitCount where bytes[position + i] != word.utf8Start[i] {
            return false
        }
        position += word.utf8CodeUnitCount
        return true
    }

    mutating func expect(_ kind: Reason) throws(JSONFault) {
        let found = try peek()
        guard found == kind else { throw fault("expected \(kind.rawValue), found \(found.rawValue)") }
    }

    mutating func open(_ kind: Reason) throws(JSONFault) {
        try expect(kind)
        guard depth < limits.depth else { throw fault("nested more than \(limits.depth) levels deep") }
        depth += 1
        position += 1
        isAtStart = true
    }
}
