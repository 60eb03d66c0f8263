/// A value of a YAML text.
package struct YAMLValue: Sendable {
    package enum Content: Sendable {
        /// Unquoted text: a number, a word, ...
        case plain(String)
        /// Quoted text or a block: always a string.
        case quoted(String)
        case list([YAMLValue])
        case mapping([(key: YAMLValue, value: YAMLValue)])
    }

    package let content: Content
    /// From 1.
    package let line: Int

    init(_ content: Content, line: Int) { (self.content, self.line) = (content, line) }

    /// Text of a scalar.
    package var scalar: String? {
        switch content {
        case .plain(let text), .quoted(let text): text
        case .list, .mapping: nil
        }
    }

    /// Reads the single document of a text.
    /// - Returns: nil if there is none.
    /// - Throws: `JSONFault` with the line.
    package static func root(of text: String) throws(JSONFault) -> YAMLValue? {
        var reader = YAMLReader(bytes: Array(text.utf8))
        for scalar in text.unicodeScalars {
            if scalar == "\n" { reader.line += 1 }
            if scalar.properties.generalCategory == .control, !["\t", "\n", "\r", "\u{85}"].contains(scalar) {
                throw reader.fault(
                    "holds a control character; write it as \\u and four digits, in \"quotes\"")
            }
        }
        reader.line = 1
        return try reader.document()
    }
}

/// Reads what job files have of YAML 1.2. Mappings keep their order and have distinct keys. Anchors, aliases, tags,
/// directives, keys after `?` and `...` are errors.
private struct YAMLReader {
    /// The deepest nesting of values.
    private static let depthLimit = 200

    let bytes: [UInt8]
    private var at = 0
    fileprivate(set) var line = 1
    private var lineStart = 0
    /// The number of open brackets, within which indentation is ignored.
    private var brackets = 0
    private var depth = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    func fault(_ message: String) -> JSONFault { JSONFault(message, line: line) }

    mutating func document() throws(JSONFault) -> YAMLValue? {
        try skip()
        let isExplicit = isAtMarker
        if isExplicit { at += 3 } else if isAtEnd { return nil }
        let root = try node(in: -1, mayBeCompact: !isExplicit)
        try skip()
        guard isAtEnd else {
            throw fault(
                isAtMarker
                    ? "a second document begins here; one file holds one"
                    : "this belongs to nothing before it")
        }
        return root
    }

    // MARK: Position

    private var isAtEnd: Bool { at >= bytes.count }
    private var column: Int { at - lineStart }

    /// A byte; 0 outside of the text, which contains none.
    private func peek(_ offset: Int = 0) -> Unicode.Scalar {
        bytes.indices.contains(at + offset) ? Unicode.Scalar(bytes[at + offset]) : "\0"
    }

    private static func isBreak(_ byte: Unicode.Scalar) -> Bool { byte == "\n" || byte == "\r" }
    private static func isBlank(_ byte: Unicode.Scalar) -> Bool { byte == " " || byte == "\t" }
    private static func endsWord(_ byte: Unicode.Scalar) -> Bool {
        byte == "\0" || isBlank(byte) || isBreak(byte)
    }
    private static func isBracket(_ byte: Unicode.Scalar) -> Bool {
        switch byte {
        case "[", "]", "{", "}", ",": true
        default: false
        }
    }

    /// Whether a sign such as `-` stands here by itself.
    private func isSign(_ sign: Unicode.Scalar) -> Bool {
        peek() == sign && (Self.endsWord(peek(1)) || (brackets > 0 && Self.isBracket(peek(1))))
    }

    /// Whether `---` stands at the beginning of a line.
    private var isAtMarker: Bool {
        column == 0 && peek() == "-" && peek(1) == "-" && peek(2) == "-" && Self.endsWord(peek(3))
    }

    private mutating func takeBreak() {
        if peek() == "\r", peek(1) == "\n" { at += 1 }
        at += 1
        line += 1
        lineStart = at
    }

    private mutating func skipLine() { while !isAtEnd, !Self.isBreak(peek()) { at += 1 } }
    private mutating func skipBlanks() { while Self.isBlank(peek()) { at += 1 } }

    /// Skips blanks, comments and line ends.
    /// - Returns: whether the next text is the first on its line.
    @discardableResult
    private mutating func skip() throws(JSONFault) -> Bool {
        while true {
            let start = at
            let isHead = column == 0
            skipBlanks()
            if peek() == "#", Self.endsWord(peek(-1)) || Self.isBracket(peek(-1)) { skipLine() }
            if Self.isBreak(peek()) {
                takeBreak()
                continue
            }
            if isHead, brackets == 0, !isAtEnd, bytes[start..<at].contains(UInt8(ascii: "\t")) {
                throw fault("a line is indented by a tab; use spaces")
            }
            return bytes[lineStart..<at].allSatisfy { Self.isBlank(Unicode.Scalar($0)) }
        }
    }
}

/// Values nested by indentation.
extension YAMLReader {
    private var empty: YAMLValue { YAMLValue(.plain(""), line: line) }

    /// - Throws: `JSONFault` with the line of the first of two equal keys.
    private func mapping(
        _ members: [(key: YAMLValue, value: YAMLValue)], line: Int
    ) throws(JSONFault) -> YAMLValue {
        var lines: [String: Int] = [:]
        for (key, _) in members {
            guard let name = key.scalar, let first = lines.updateValue(key.line, forKey: name) else {
                continue
            }
            throw JSONFault("the key \(name.prefix(64)) is given more than once; keep one", line: first)
        }
        return YAMLValue(.mapping(members), line: line)
    }

    /// Reads the next value, or an empty one if there is none.
    /// - Parameters:
    ///   - indent: the parent's column; on a line of its own the value stands further right.
    ///   - mayBeCompact: whether a list or mapping may begin on the same line, as after `- `.
    ///   - isListIn: whether a list may stand in the same column, as after `key:`.
    private mutating func node(
        in indent: Int, mayBeCompact: Bool, isListIn: Bool = false
    ) throws(JSONFault) -> YAMLValue {
        depth += 1
        defer { depth -= 1 }
        try checkDepth()
        let missing = empty
        let isFirst = try skip()
        let mayBeCompact = mayBeCompact || isFirst
        if isAtEnd || isAtMarker { return missing }
        if isFirst, column <= indent, !(isListIn && column == indent && isSign("-")) { return missing }
        let (start, startLine) = (column, line)
        if isSign("-") {
            guard mayBeCompact else { throw fault("a list can't begin on the line of its key") }
            return try list(at: start)
        }
        if peek() == "|" || peek() == ">" { return try blockScalar(in: indent) }
        let value = isSign(":") ? empty : try inline(in: indent)
        guard isBeforeColon() else { return value }
        guard line == startLine else { throw fault("a key must be on one line") }
        guard mayBeCompact else {
            throw fault("a second key can't follow on the same line; quote a text with \": \"")
        }
        return try mapping(at: start, value)
    }

    private func checkDepth() throws(JSONFault) {
        guard depth + brackets <= Self.depthLimit else { throw fault("values lie too deep in each other") }
    }

    /// Whether `:` follows on the line.
    private mutating func isBeforeColon() -> Bool {
        let before = at
        skipBlanks()
        if isSign(":") { return true }
        at = before
        return false
    }

    /// Reads a value that is not nested by indentation.
    private mutating func inline(in indent: Int) throws(JSONFault) -> YAMLValue {
        switch peek() {
        case "[", "{": try bracketed()
        case "\"", "'": try quoted()
        default: try plain(in: indent)
        }
    }

    /// Whether another entry follows in this column.
    private mutating func goesOn(at start: Int) throws(JSONFault) -> Bool {
        let isFirst = try skip()
        if isAtEnd || isAtMarker || (isFirst && column < start) { return false }
        guard isFirst, column == start else {
            throw fault(
                isFirst
                    ? "a line is indented further than those before it, which it doesn't belong to"
                    : "something follows a value that is complete; quote a text that holds it all")
        }
        return true
    }

    private mutating func list(at start: Int) throws(JSONFault) -> YAMLValue {
        let line = line
        var elements: [YAMLValue] = []
        repeat {
            at += 1
            elements.append(try node(in: start, mayBeCompact: true))
        } while try goesOn(at: start) && isSign("-")
        return YAMLValue(.list(elements), line: line)
    }

    /// - Parameter first: its first key, already read up to the colon.
    private mutating func mapping(
        at start: Int, _ first: YAMLValue
    ) throws(JSONFault) -> YAMLValue {
        var (members, key): ([(key: YAMLValue, value: YAMLValue)], YAMLValue) = ([], first)
        while true {
            at += 1
            members.append((key, try node(in: start, mayBeCompact: false, isListIn: true)))
            guard try goesOn(at: start) else { return try mapping(members, line: first.line) }
            key = try self.key(in: start)
        }
    }

    private mutating func key(in indent: Int) throws(JSONFault) -> YAMLValue {
        let startLine = line
        let key = isSign(":") ? empty : try inline(in: indent)
        guard line == startLine, isBeforeColon() else {
            line = startLine
            throw fault("this should be a key, with a colon and a space after it")
        }
        return key
    }
}

/// Lists and mappings in brackets, as in JSON.
extension YAMLReader {
    private mutating func bracketed() throws(JSONFault) -> YAMLValue {
        if peek() == "{", peek(1) == "{" {
            throw fault("a text that begins with {{ must have quotes around it: \"{{ prompt }}\"")
        }
        brackets += 1
        defer { brackets -= 1 }
        try checkDepth()
        let (line, isList) = (line, peek() == "[")
        let end: Unicode.Scalar = isList ? "]" : "}"
        var elements: [YAMLValue] = []
        var members: [(key: YAMLValue, value: YAMLValue)] = []
        at += 1
        while true {
            try skip()
            guard !isAtEnd, !isAtMarker else { throw fault("a bracket is not closed; \(end) is missing") }
            if peek() == end { break }
            let first = try bracketedValue(mayBeEmpty: false)
            try skip()
            if isList {
                elements.append(first)
            } else if peek() == ":" {
                at += 1
                try skip()
                members.append((first, try bracketedValue(mayBeEmpty: true)))
                try skip()
            } else {
                members.append((first, empty))
            }
            if peek() == "," {
                at += 1
            } else if peek() != end {
                let hint = peek() == ":" ? ", or braces around a key: [{a: b}]" : ""
                throw fault("expected a comma or \(end) within brackets\(hint)")
            }
        }
        at += 1
        return isList ? YAMLValue(.list(elements), line: line) : try mapping(members, line: line)
    }

    private mutating func bracketedValue(mayBeEmpty: Bool) throws(JSONFault) -> YAMLValue {
        if isSign(":") { return empty }
        guard [",", "]", "}"].contains(peek()) else { return try inline(in: -1) }
        guard mayBeEmpty else { throw fault("a value is missing before \(peek())") }
        return empty
    }
}

/// Texts on one line or several; line ends become spaces.
extension YAMLReader {
    private mutating func plain(in indent: Int) throws(JSONFault) -> YAMLValue {
        guard !isAtEnd, canBeginPlain else {
            throw fault(
                isAtEnd
                    ? "a value is missing at the end"
                    : "a text can't begin with \(peek()); put it in \"quotes\"")
        }
        let startLine = line
        var text: [UInt8] = []
        while true {
            let start = at
            var end = at
            while !endsPlain(start) {
                at += 1
                if !Self.isBlank(peek(-1)) { end = at }
            }
            text += bytes[start..<end]
            guard Self.isBreak(peek()) else { break }
            let before = self
            let breaks = takeBreaks()
            guard brackets > 0 || column > indent, !isAtMarker, peek() != "#", !endsPlain(at) else {
                self = before
                break
            }
            text += Self.folded(breaks)
        }
        return YAMLValue(.plain(String(decoding: text, as: UTF8.self)), line: startLine)
    }

    private var canBeginPlain: Bool {
        switch peek() {
        case "-", "?", ":": !isSign(peek())
        case "#", "&", "*", "!", "|", ">", "'", "\"", "%", "@", "`": false
        default: !Self.isBracket(peek())
        }
    }

    private func endsPlain(_ start: Int) -> Bool {
        switch peek() {
        case "\0", "\n", "\r": true
        case ":": isSign(":")
        case "#": at > start && Self.isBlank(peek(-1))
        default: brackets > 0 && Self.isBracket(peek())
        }
    }

    /// Skips the line end, empty lines after it, and indentation.
    /// - Returns: the number of line ends.
    private mutating func takeBreaks() -> Int {
        var breaks = 0
        while Self.isBreak(peek()) {
            takeBreak()
            breaks += 1
            skipBlanks()
        }
        return breaks
    }

    private static func feeds(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x0A, count: count) }

    private static func folded(_ breaks: Int) -> [UInt8] { breaks == 1 ? [0x20] : feeds(breaks - 1) }

    private mutating func quoted() throws(JSONFault) -> YAMLValue {
        let (startLine, quote) = (line, peek())
        var text: [UInt8] = []
        // Blanks at the end of a line are dropped, except those written as escapes.
        var solid = 0
        at += 1
        while peek() != quote || (quote == "'" && peek(1) == quote) {
            guard !isAtEnd, !isAtMarker else {
                throw fault("a text in quotes that begins in line \(startLine) is not closed")
            }
            if Self.isBreak(peek()) {
                let end = text.lastIndex { !Self.isBlank(Unicode.Scalar($0)) } ?? -1
                text.removeSubrange(max(solid, end + 1)...)
                text += Self.folded(takeBreaks())
                solid = text.count
            } else if peek() == "\\", quote == "\"" {
                at += 1
                text += try escape()
                solid = text.count
            } else {
                text.append(bytes[at])
                at += peek() == quote ? 2 : 1
            }
        }
        at += 1
        return YAMLValue(.quoted(String(decoding: text, as: UTF8.self)), line: startLine)
    }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "b": "\u{08}", "t": "\t", "n": "\n", "f": "\u{0C}", "r": "\r", "\"": "\"", "/": "/", "\\": "\\",
    ]

    /// Reads an escape after its backslash.
    private mutating func escape() throws(JSONFault) -> [UInt8] {
        let letter = peek()
        at += 1
        if let scalar = Self.escapes[letter] { return Array(String(scalar).utf8) }
        guard letter == "u" else {
            throw fault("an unknown escape after \\; a backslash itself is \\\\ in \"quotes\"")
        }
        var value = try number()
        // JSON writes a character beyond U+FFFF as two.
        if 0xD800...0xDBFF ~= value, peek() == "\\", peek(1) == "u" {
            at += 2
            let low = try number()
            guard 0xDC00...0xDFFF ~= low else {
                throw fault("\\u\(String(value, radix: 16)) is half a character")
            }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else {
            throw fault("an escape that names no character: \(String(value, radix: 16))")
        }
        return Array(String(scalar).utf8)
    }

    private mutating func number() throws(JSONFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Character(peek()).hexDigitValue else {
                throw fault("an escape needs 4 hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            at += 1
        }
        return value
    }
}

/// Texts after `|`, which keep their lines, and after `>`, whose lines are joined.
extension YAMLReader {
    private mutating func blockScalar(in indent: Int) throws(JSONFault) -> YAMLValue {
        let (startLine, isFolded) = (line, peek() == ">")
        let end = try header()
        // The first line that is not empty has the margin.
        var (margin, least) = (Int?.none, max(indent + 1, 1))
        var text: [UInt8] = []
        var (breaks, wasBlank, isFirst) = (0, false, true)
        while true {
            let before = self
            while peek() == " ", margin.map({ column < $0 }) ?? true { at += 1 }
            if Self.isBreak(peek()) {
                least = max(least, column)
                takeBreak()
                breaks += 1
                continue
            }
            let own = margin ?? max(least, column)
            guard !isAtEnd, column == own, !isAtMarker else {
                if column < own, peek() == "\t" { throw fault("a line is indented by a tab; use spaces") }
                self = before
                break
            }
            margin = own
            // Lines that begin with a blank are not joined.
            let isBlank = Self.isBlank(peek())
            let joins = isFolded && !isFirst && !isBlank && !wasBlank
            text += joins ? Self.folded(breaks) : Self.feeds(breaks)
            let start = at
            skipLine()
            text += bytes[start..<at]
            (isFirst, wasBlank, breaks) = (false, isBlank, 0)
            if isAtEnd { break }
            takeBreak()
            breaks = 1
        }
        // The end of the last line, and empty ones after it.
        text += Self.feeds(end == "+" ? breaks : end.isEmpty && !isFirst ? min(breaks, 1) : 0)
        return YAMLValue(.quoted(String(decoding: text, as: UTF8.self)), line: startLine)
    }

    /// Reads the first line.
    /// - Returns: `-` for no line end after the text, `+` for all; empty is one.
    private mutating func header() throws(JSONFault) -> Substring {
        let start = at
        skipLine()
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        guard let parts = text.wholeMatch(of: /[|>]([-+]?)[ \t]*(?:[ \t]#(?s:.*))?/) else {
            throw fault("a text after | or > begins on the next line; quote one that begins with them")
        }
        if !isAtEnd { takeBreak() }
        return parts.1
    }
}
