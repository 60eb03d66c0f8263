import JSON

/// Reads the single document of a YAML 1.2 text.
///
/// Mappings keep their order and have distinct keys. Tags, directives, keys after `?` and `...` are errors.
package struct YAMLReader {
    /// The deepest nesting of values.
    private static let depthLimit = 200
    /// Aliases multiply: this many yield at most some ten thousand values.
    private static let aliasLimit = 24

    private let bytes: [UInt8]
    /// Folder that relative paths in values start from.
    private let folder: String
    private var at = 0
    /// From 1.
    private var line = 1
    private var lineStart = 0
    /// The number of open brackets, within which indentation is ignored.
    private var brackets = 0
    private var depth = 0
    private var anchors: [[UInt8]: SettingValue] = [:]
    private var aliases = 0

    /// - Parameter folder: that of relative paths in values.
    /// - Returns: nil if there is no document.
    static func root(of text: String, folder: String = "") throws(SettingProblem) -> SettingValue? {
        var reader = YAMLReader(bytes: Array(text.utf8), folder: folder)
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

    /// Nil if the text is no YAML, or has values that JSON lacks.
    package static func json(of text: String) -> JSONValue? { try? root(of: text)?.json() }

    private func fault(_ message: String) -> SettingProblem {
        SettingProblem("is not valid YAML: \(message)", line: line)
    }

    private mutating func document() throws(SettingProblem) -> SettingValue? {
        try skip()
        if column == 0, peek() == "%" {
            throw fault("directives are not supported; a text that begins with % must be in \"quotes\"")
        }
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
    private mutating func skip() throws(SettingProblem) -> Bool {
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

    // MARK: Anchors

    /// Reads `&name`.
    /// - Returns: the name, and whether the value begins on a later line.
    private mutating func properties() throws(SettingProblem) -> (anchor: [UInt8]?, crossed: Bool) {
        var found = (anchor: [UInt8]?.none, crossed: false)
        if peek() == "&" {
            found.anchor = try name()
            guard Self.endsWord(peek()) || (brackets > 0 && Self.isBracket(peek())) else {
                throw fault("a name after & must be followed by a space")
            }
            found.crossed = try skip()
        }
        if peek() == "!" {
            throw fault("tags are not supported; a text that begins with ! must be in \"quotes\"")
        }
        return found
    }

    private mutating func name() throws(SettingProblem) -> [UInt8] {
        at += 1
        let start = at
        while !Self.endsWord(peek()), !Self.isBracket(peek()), peek() != ":" || !Self.endsWord(peek(1)) {
            at += 1
        }
        guard at > start else { throw fault("a name is missing after & or *") }
        return Array(bytes[start..<at])
    }

    private mutating func alias() throws(SettingProblem) -> SettingValue {
        let name = try name()
        aliases += 1
        guard aliases <= Self.aliasLimit else {
            throw SettingProblem(
                "uses more than \(Self.aliasLimit) YAML aliases; write the values out", line: line)
        }
        guard let value = anchors[name] else {
            throw fault("nothing before it is named &\(String(decoding: name.prefix(64), as: UTF8.self))")
        }
        return value
    }

    private mutating func remember(_ value: SettingValue, as anchor: [UInt8]?) {
        if let anchor { anchors[anchor] = value }
    }
}

/// Values nested by indentation.
extension YAMLReader {
    private func value(_ content: SettingValue.Content, line: Int) -> SettingValue {
        SettingValue(content, line: line, folder: folder)
    }

    private var empty: SettingValue { value(.plain(""), line: line) }

    /// - Throws: `SettingProblem` with the line of the first of two equal keys.
    private func mapping(
        _ members: [(key: SettingValue, value: SettingValue)], line: Int
    ) throws(SettingProblem) -> SettingValue {
        var lines: [String: Int?] = [:]
        for (key, _) in members {
            guard let name = key.scalar, let first = lines.updateValue(key.line, forKey: name) else {
                continue
            }
            throw SettingProblem("the key \(name.prefix(64)) is given more than once; keep one", line: first)
        }
        return value(.mapping(members), line: line)
    }

    /// Reads the next value, or an empty one if there is none.
    /// - Parameters:
    ///   - indent: the parent's column; on a line of its own the value stands further right.
    ///   - mayBeCompact: whether a list or mapping may begin on the same line, as after `- `.
    ///   - isListIn: whether a list may stand in the same column, as after `key:`.
    private mutating func node(
        in indent: Int, mayBeCompact: Bool, isListIn: Bool = false
    ) throws(SettingProblem) -> SettingValue {
        depth += 1
        defer { depth -= 1 }
        try checkDepth()
        let missing = empty
        let isFirst = try skip()
        let mayBeCompact = mayBeCompact || isFirst
        if isAtEnd || isAtMarker { return missing }
        if isFirst, column <= indent, !(isListIn && column == indent && isSign("-")) { return missing }
        let (start, startLine) = (column, line)
        let before = empty
        let properties = try properties()
        let value: SettingValue
        if properties.crossed {
            value = try node(in: indent, mayBeCompact: true, isListIn: isListIn)
        } else if isSign("-"), properties.anchor == nil {
            guard mayBeCompact else { throw fault("a list can't begin on the line of its key") }
            value = try list(at: start)
        } else if peek() == "|" || peek() == ">" {
            value = try blockScalar(in: indent)
        } else {
            value = (properties.anchor != nil && isAtEnd) || isSign(":") ? before : try inline(in: indent)
            if line != startLine {
                if isBeforeColon() { throw fault("a key must be on one line") }
            } else if isBeforeColon() {
                guard mayBeCompact else {
                    throw fault("a second key can't follow on the same line; quote a text with \": \"")
                }
                remember(value, as: properties.anchor)
                return try mapping(at: start, value)
            }
        }
        remember(value, as: properties.anchor)
        return value
    }

    private func checkDepth() throws(SettingProblem) {
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
    private mutating func inline(in indent: Int) throws(SettingProblem) -> SettingValue {
        switch peek() {
        case "*": try alias()
        case "[", "{": try bracketed()
        case "\"", "'": try quoted()
        default: try plain(in: indent)
        }
    }

    /// Whether another entry follows in this column.
    private mutating func goesOn(at start: Int) throws(SettingProblem) -> Bool {
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

    private mutating func list(at start: Int) throws(SettingProblem) -> SettingValue {
        let line = line
        var elements: [SettingValue] = []
        repeat {
            at += 1
            elements.append(try node(in: start, mayBeCompact: true))
        } while try goesOn(at: start) && isSign("-")
        return value(.list(elements), line: line)
    }

    /// - Parameter first: its first key, already read up to the colon.
    private mutating func mapping(
        at start: Int, _ first: SettingValue
    ) throws(SettingProblem) -> SettingValue {
        var (members, key): ([(key: SettingValue, value: SettingValue)], SettingValue) = ([], first)
        while true {
            at += 1
            members.append((key, try node(in: start, mayBeCompact: false, isListIn: true)))
            guard try goesOn(at: start) else { return try mapping(members, line: first.line ?? line) }
            key = try self.key(in: start)
        }
    }

    private mutating func key(in indent: Int) throws(SettingProblem) -> SettingValue {
        let startLine = line
        let properties = try properties()
        let key = isSign(":") ? empty : try inline(in: indent)
        guard line == startLine, isBeforeColon() else {
            line = startLine
            throw fault("this should be a key, with a colon and a space after it")
        }
        remember(key, as: properties.anchor)
        return key
    }
}

/// Lists and mappings in brackets, as in JSON.
extension YAMLReader {
    private mutating func bracketed() throws(SettingProblem) -> SettingValue {
        if peek() == "{", peek(1) == "{" {
            throw fault("a text that begins with {{ must have quotes around it: \"{{ prompt }}\"")
        }
        brackets += 1
        defer { brackets -= 1 }
        try checkDepth()
        let (line, isList) = (line, peek() == "[")
        let end: Unicode.Scalar = isList ? "]" : "}"
        var elements: [SettingValue] = []
        var members: [(key: SettingValue, value: SettingValue)] = []
        at += 1
        while true {
            try skip()
            guard !isAtEnd, !isAtMarker else { throw fault("a bracket is not closed; \(end) is missing") }
            if peek() == end { break }
            let first = try bracketedNode(mayBeEmpty: false)
            try skip()
            if isList {
                elements.append(first)
            } else if peek() == ":" {
                at += 1
                try skip()
                members.append((first, try bracketedNode(mayBeEmpty: true)))
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
        return isList ? value(.list(elements), line: line) : try mapping(members, line: line)
    }

    private mutating func bracketedNode(mayBeEmpty: Bool) throws(SettingProblem) -> SettingValue {
        let before = empty
        let properties = try properties()
        let value: SettingValue
        switch peek() {
        case ":" where isSign(":"): value = before
        case ",", "]", "}":
            guard mayBeEmpty || properties.anchor != nil else {
                throw fault("a value is missing before \(peek())")
            }
            value = before
        default: value = try inline(in: -1)
        }
        remember(value, as: properties.anchor)
        return value
    }
}

/// Texts on one line or several; line ends become spaces.
extension YAMLReader {
    private mutating func plain(in indent: Int) throws(SettingProblem) -> SettingValue {
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
        return value(.plain(String(decoding: text, as: UTF8.self)), line: startLine)
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

    private mutating func quoted() throws(SettingProblem) -> SettingValue {
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
                text += Self.isBreak(peek()) ? Self.feeds(takeBreaks() - 1) : try escape()
                solid = text.count
            } else {
                text.append(bytes[at])
                at += peek() == quote ? 2 : 1
            }
        }
        at += 1
        return value(.quoted(String(decoding: text, as: UTF8.self)), line: startLine)
    }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "b": "\u{08}", "t": "\t", "n": "\n", "f": "\u{0C}", "r": "\r", " ": " ", "\"": "\"", "/": "/",
        "\\": "\\", "'": "'",
    ]

    /// Reads an escape after its backslash.
    private mutating func escape() throws(SettingProblem) -> [UInt8] {
        let letter = peek()
        at += 1
        if let scalar = Self.escapes[letter] { return Array(String(scalar).utf8) }
        guard let digits = ["x": 2, "u": 4, "U": 8][letter] else {
            throw fault("an unknown escape after \\; a backslash itself is \\\\ in \"quotes\"")
        }
        var value = try number(digits: digits)
        // JSON writes a character beyond U+FFFF as two.
        if 0xD800...0xDBFF ~= value, digits == 4, peek() == "\\", peek(1) == "u" {
            at += 2
            let low = try number(digits: 4)
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

    private mutating func number(digits: Int) throws(SettingProblem) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let digit = Character(peek()).hexDigitValue else {
                throw fault("an escape needs \(digits) hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            at += 1
        }
        return value
    }
}

/// Texts after `|`, which keep their lines, and after `>`, whose lines are joined.
extension YAMLReader {
    private mutating func blockScalar(in indent: Int) throws(SettingProblem) -> SettingValue {
        let (startLine, isFolded) = (line, peek() == ">")
        let (number, end) = try header(in: indent)
        // Without a number, the first line that is not empty has the margin.
        var (margin, least) = (number, max(indent + 1, 1))
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
        return value(.quoted(String(decoding: text, as: UTF8.self)), line: startLine)
    }

    /// Reads the first line.
    /// - Returns: the column of the text's lines, if a number tells it. `-` for no line end after the text, `+` for all;
    ///   empty is one.
    private mutating func header(in indent: Int) throws(SettingProblem) -> (margin: Int?, end: Substring) {
        let start = at
        skipLine()
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        let pattern = /[|>](?<number>[1-9])?(?<end>[-+]?)(?<more>[1-9])?[ \t]*(?:[ \t]#(?s:.*))?/
        guard let parts = text.wholeMatch(of: pattern), parts.number == nil || parts.more == nil else {
            throw fault("a text after | or > begins on the next line; quote one that begins with them")
        }
        if !isAtEnd { takeBreak() }
        return ((parts.number ?? parts.more).flatMap { Int($0) }.map { max(indent, 0) + $0 }, parts.end)
    }
}
