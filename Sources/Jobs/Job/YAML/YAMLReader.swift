/// Reads the one document of a YAML 1.2 text.
///
/// What a job has no use for is read over: tags and directives say nothing, and a plain scalar is its text. Mappings keep
/// their order, and each key is there once. Keys that `?` begins are not read.
struct YAMLReader {
    /// Values may lie so deep in each other.
    static let depthLimit = 200
    /// Aliases multiply: with this many, no more than some ten thousand values can come of them.
    static let aliasLimit = 24

    let bytes: [UInt8]
    var at = 0
    /// From 1.
    var line = 1
    private var lineStart = 0
    /// How many brackets are open: there indentation says nothing.
    var brackets = 0
    var depth = 0
    private var anchors: [[UInt8]: YAMLNode] = [:]
    private var aliases = 0

    /// - Returns: nil if there is no document.
    static func root(of text: String) throws(YAMLFault) -> YAMLNode? {
        var reader = YAMLReader(bytes: Array(text.utf8))
        try reader.refuseControls()
        return try reader.document()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    func fault(_ message: String) -> YAMLFault {
        YAMLFault(line: line, message: "is not valid YAML: \(message)")
    }

    private mutating func document() throws(YAMLFault) -> YAMLNode? {
        var hasDirectives = false
        while true {
            try skip()
            if column == 0, peek() == UInt8(ascii: "%") {
                try directive()
                hasDirectives = true
            } else if isMarker(UInt8(ascii: ".")), !hasDirectives {
                at += 3
            } else {
                break
            }
        }
        let isExplicit = isMarker(UInt8(ascii: "-"))
        guard isExplicit || !hasDirectives else { throw fault("directives must be followed by ---") }
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

    private mutating func directive() throws(YAMLFault) {
        let start = at
        skipLine()
        guard ["%YAML ", "%TAG "].contains(where: { bytes[start..<at].starts(with: $0.utf8) }) else {
            throw fault("an unknown directive; a text that begins with % must be in \"quotes\"")
        }
    }

    // MARK: Places

    var isAtEnd: Bool { at >= bytes.count }
    var column: Int { at - lineStart }

    private var isFirstOnLine: Bool { bytes[lineStart..<at].allSatisfy(Self.isBlank) }

    /// 0 beyond the end, which no text holds.
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

    /// Goes on to what comes next, over blanks, comments and lines' ends.
    /// - Returns: whether that is the first on its line.
    @discardableResult
    mutating func skip() throws(YAMLFault) -> Bool {
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

    private mutating func refuseControls() throws(YAMLFault) {
        for (index, byte) in bytes.enumerated() {
            if byte == 0x0A { line += 1 }
            // U+0080 and on, but for the end of line U+0085, begin with C2 and one of these.
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

    // MARK: Names

    struct Properties {
        var anchor: [UInt8]?
        var isThere = false
        /// Whether the value begins on a later line.
        var crossed = false
    }

    /// Takes `&name` and `!tag`, in either order.
    mutating func properties() throws(YAMLFault) -> Properties {
        var found = Properties()
        while peek() == UInt8(ascii: "&") || peek() == UInt8(ascii: "!"), !found.crossed {
            found.isThere = true
            if peek() == UInt8(ascii: "&") { found.anchor = try name() } else { tag() }
            guard Self.endsWord(peek()) || (brackets > 0 && Self.isBracket(peek())) else {
                throw fault("a name after & or ! must be followed by a space")
            }
            found.crossed = try skip()
        }
        return found
    }

    private mutating func tag() {
        let isVerbatim = peek(1) == UInt8(ascii: "<")
        while !Self.endsWord(peek()), isVerbatim || brackets == 0 || !Self.isBracket(peek()) { at += 1 }
    }

    private mutating func name() throws(YAMLFault) -> [UInt8] {
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

    mutating func alias() throws(YAMLFault) -> YAMLNode {
        let name = try name()
        aliases += 1
        guard aliases <= Self.aliasLimit else {
            throw YAMLFault(
                line: line, message: "uses more than \(Self.aliasLimit) YAML aliases; write the values out")
        }
        guard let node = anchors[name] else {
            throw fault("nothing before it is named &\(String(decoding: name.prefix(64), as: UTF8.self))")
        }
        return node
    }

    mutating func remember(_ node: YAMLNode, as anchor: [UInt8]?) { if let anchor { anchors[anchor] = node } }
}
