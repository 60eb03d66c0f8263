/// Reads the single document of a YAML 1.2 text.
///
/// Mappings keep their order and have distinct keys. Tags, directives and keys after `?` are errors.
struct YAMLReader {
    /// The deepest nesting of values.
    static let depthLimit = 200
    /// Aliases multiply: this many yield at most some ten thousand values.
    static let aliasLimit = 24

    let bytes: [UInt8]
    var at = 0
    /// From 1.
    var line = 1
    private var lineStart = 0
    /// The number of open brackets, within which indentation is ignored.
    var brackets = 0
    var depth = 0
    private var anchors: [[UInt8]: YAMLNode] = [:]
    private var aliases = 0

    /// - Returns: nil if there is no document.
    static func root(of text: String) throws(SettingProblem) -> YAMLNode? {
        var reader = YAMLReader(bytes: Array(text.utf8))
        try reader.refuseControls()
        return try reader.document()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    func fault(_ message: String) -> SettingProblem {
        SettingProblem("is not valid YAML: \(message)", line: line)
    }

    private mutating func document() throws(SettingProblem) -> YAMLNode? {
        try skip()
        if column == 0, peek() == UInt8(ascii: "%") {
            throw fault("directives are not supported; a text that begins with % must be in \"quotes\"")
        }
        let isExplicit = isMarker(UInt8(ascii: "-"))
        if isExplicit { at += 3 } else if isAtEnd { return nil }
        let root = try node(in: -1, mayBeCompact: !isExplicit)
        try skip()
        while isMarker(UInt8(ascii: ".")) {
            at += 3
            guard try skip() || isAtEnd else { throw fault("nothing may follow ... on its line") }
        }
        guard isAtEnd else {
            throw fault(
                isMarker(UInt8(ascii: "-"))
                    ? "a second document begins here; one file holds one"
                    : "this belongs to nothing before it")
        }
        return root
    }

    // MARK: Position

    var isAtEnd: Bool { at >= bytes.count }
    var column: Int { at - lineStart }

    private var isFirstOnLine: Bool { bytes[lineStart..<at].allSatisfy(Self.isBlank) }

    /// 0 beyond the end; texts contain none.
    func peek(_ offset: Int = 0) -> UInt8 { at + offset < bytes.count ? bytes[at + offset] : 0 }

    static func isBreak(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    static func endsWord(_ byte: UInt8) -> Bool { byte == 0 || isBlank(byte) || isBreak(byte) }
    static func isBracket(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ","):
            true
        default: false
        }
    }

    /// Whether a sign such as `-` stands here by itself.
    func isSign(_ sign: Unicode.Scalar) -> Bool {
        peek() == UInt8(ascii: sign) && (Self.endsWord(peek(1)) || (brackets > 0 && Self.isBracket(peek(1))))
    }

    /// Whether `---` or `...` stands at the beginning of a line.
    private func isMarker(_ byte: UInt8) -> Bool {
        column == 0 && peek() == byte && peek(1) == byte && peek(2) == byte && Self.endsWord(peek(3))
    }

    var isAtMarker: Bool { isMarker(UInt8(ascii: "-")) || isMarker(UInt8(ascii: ".")) }

    mutating func takeBreak() {
        if peek() == 0x0D, peek(1) == 0x0A { at += 1 }
        at += 1
        line += 1
        lineStart = at
    }

    mutating func skipLine() { while !isAtEnd, !Self.isBreak(peek()) { at += 1 } }
    mutating func skipBlanks() { while Self.isBlank(peek()) { at += 1 } }

    /// Skips blanks, comments and line ends.
    /// - Returns: whether the next text is the first on its line.
    @discardableResult
    mutating func skip() throws(SettingProblem) -> Bool {
        while true {
            let start = at
            let isHead = column == 0
            skipBlanks()
            if peek() == UInt8(ascii: "#"),
                at == 0 || Self.endsWord(bytes[at - 1]) || Self.isBracket(bytes[at - 1])
            {
                skipLine()
            }
            if Self.isBreak(peek()) {
                takeBreak()
            } else {
                if isHead, brackets == 0, !isAtEnd, bytes[start..<at].contains(0x09) {
                    throw fault("a line is indented by a tab; use spaces")
                }
                return isFirstOnLine
            }
        }
    }

    private mutating func refuseControls() throws(SettingProblem) {
        for (index, byte) in bytes.enumerated() {
            if byte == 0x0A { line += 1 }
            // U+0080 and above, except the line end U+0085, begin with C2 and one of these.
            let isControl =
                byte < 0x20
                ? byte != 0x09 && !Self.isBreak(byte)
                : byte == 0x7F
                    || (index > 0 && bytes[index - 1] == 0xC2 && byte < 0xA0 && byte != 0x85)
            if isControl {
                throw fault("holds a control character; write it as \\u and four digits, in \"quotes\"")
            }
        }
        line = 1
    }

    // MARK: Anchors

    struct Properties {
        var anchor: [UInt8]?
        /// Whether the value begins on a later line.
        var crossed = false
    }

    /// Reads `&name`.
    mutating func properties() throws(SettingProblem) -> Properties {
        var found = Properties()
        if peek() == UInt8(ascii: "&") {
            found.anchor = try name()
            guard Self.endsWord(peek()) || (brackets > 0 && Self.isBracket(peek())) else {
                throw fault("a name after & must be followed by a space")
            }
            found.crossed = try skip()
        }
        if peek() == UInt8(ascii: "!") {
            throw fault("tags are not supported; a text that begins with ! must be in \"quotes\"")
        }
        return found
    }

    private mutating func name() throws(SettingProblem) -> [UInt8] {
        at += 1
        let start = at
        while !Self.endsWord(peek()), !Self.isBracket(peek()),
            peek() != UInt8(ascii: ":") || !Self.endsWord(peek(1))
        {
            at += 1
        }
        guard at > start else { throw fault("a name is missing after & or *") }
        return Array(bytes[start..<at])
    }

    mutating func alias() throws(SettingProblem) -> YAMLNode {
        let name = try name()
        aliases += 1
        guard aliases <= Self.aliasLimit else {
            throw SettingProblem(
                "uses more than \(Self.aliasLimit) YAML aliases; write the values out", line: line)
        }
        guard let node = anchors[name] else {
            throw fault("nothing before it is named &\(String(decoding: name.prefix(64), as: UTF8.self))")
        }
        return node
    }

    mutating func remember(_ node: YAMLNode, as anchor: [UInt8]?) { if let anchor { anchors[anchor] = node } }
}

/// A value of a YAML document.
struct YAMLNode {
    package indirect enum Content {
        /// Plain is unquoted; the reader of the value decides its type.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    var content: Content
    /// From 1; an alias has the line of its anchor.
    var line: Int
}

/// Values nested by indentation.
extension YAMLReader {
    var empty: YAMLNode { YAMLNode(content: .scalar("", isPlain: true), line: line) }

    /// Reads the next value, or an empty one if there is none.
    /// - Parameters:
    ///   - indent: the parent's column; on a line of its own the value stands further right.
    ///   - mayBeCompact: whether a list or mapping may begin on the same line, as after `- `.
    ///   - isListIn: whether a list may stand in the same column, as after `key:`.
    mutating func node(
        in indent: Int, mayBeCompact: Bool, isListIn: Bool = false
    ) throws(SettingProblem) -> YAMLNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw fault("values lie too deep in each other") }
        let missing = empty
        let isFirst = try skip()
        let mayBeCompact = mayBeCompact || isFirst
        if isAtEnd || isAtMarker { return missing }
        if isFirst, column <= indent, !(isListIn && column == indent && isSign("-")) { return missing }
        let (start, startLine) = (column, line)
        let before = empty
        let properties = try properties()
        if properties.crossed {
            let value = try node(in: indent, mayBeCompact: true, isListIn: isListIn)
            remember(value, as: properties.anchor)
            return value
        }
        let value: YAMLNode
        if isSign("-"), properties.anchor == nil {
            guard mayBeCompact else { throw fault("a list can't begin on the line of its key") }
            value = try list(at: start)
        } else if peek() == UInt8(ascii: "|") || peek() == UInt8(ascii: ">") {
            value = try blockScalar(in: indent)
        } else {
            let first = (properties.anchor != nil && isAtEnd) || isSign(":") ? before : try inline(in: indent)
            guard line == startLine else {
                if isBeforeColon() { throw fault("a key must be on one line") }
                remember(first, as: properties.anchor)
                return first
            }
            if isBeforeColon() {
                guard mayBeCompact else {
                    throw fault("a second key can't follow on the same line; quote a text with \": \"")
                }
                remember(first, as: properties.anchor)
                return try mapping(at: start, first)
            }
            value = first
        }
        remember(value, as: properties.anchor)
        return value
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
    mutating func inline(in indent: Int) throws(SettingProblem) -> YAMLNode {
        switch peek() {
        case UInt8(ascii: "*"): try alias()
        case UInt8(ascii: "["), UInt8(ascii: "{"): try bracketed()
        case UInt8(ascii: "\""), UInt8(ascii: "'"): try quoted()
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

    private mutating func list(at start: Int) throws(SettingProblem) -> YAMLNode {
        let line = line
        var elements: [YAMLNode] = []
        repeat {
            at += 1
            elements.append(try node(in: start, mayBeCompact: true))
        } while try goesOn(at: start) && isSign("-")
        return YAMLNode(content: .sequence(elements), line: line)
    }

    /// - Parameter first: its first key, already read up to the colon.
    private mutating func mapping(at start: Int, _ first: YAMLNode) throws(SettingProblem) -> YAMLNode {
        var members = YAMLMembers(line: first.line)
        var key = first
        while true {
            at += 1
            try members.add(key, node(in: start, mayBeCompact: false, isListIn: true))
            guard try goesOn(at: start) else { return members.node }
            key = try self.key(in: start)
        }
    }

    private mutating func key(in indent: Int) throws(SettingProblem) -> YAMLNode {
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

/// A mapping while it is read.
struct YAMLMembers {
    let line: Int
    private var members: [(key: YAMLNode, value: YAMLNode)] = []
    private var lines: [String: Int] = [:]

    init(line: Int) { self.line = line }

    var node: YAMLNode { YAMLNode(content: .mapping(members), line: line) }

    /// - Throws: `SettingProblem` with the line of the first one if the key is there already.
    mutating func add(_ key: YAMLNode, _ value: YAMLNode) throws(SettingProblem) {
        if case .scalar(let name, _) = key.content {
            if let line = lines[name] {
                throw SettingProblem(
                    "the key \(name.prefix(64)) is given more than once; keep one", line: line)
            }
            lines[name] = key.line
        }
        members.append((key, value))
    }
}
