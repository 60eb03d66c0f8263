struct TemplateToken {
    enum Form: Equatable {
        /// Text outside tags.
        case data(String)
        case name(String)
        case string(String)
        case int(Int)
        case double(Double)
        /// An operator, a bracket, or the beginning or end of a tag.
        case sign(String)
        case end
    }

    let kind: Form
    let line: Int

    /// Name in messages.
    var spelling: String {
        switch kind {
        case .data: "text"
        case .name(let name), .sign(let name): "'\(name)'"
        case .string: "a string"
        case .int, .double: "a number"
        case .end: "the end of the template"
        }
    }
}

/// Splits a template into tokens, like Jinja 3.1.
struct TemplateLexer {
    private let source: [Unicode.Scalar]
    /// Whether white space is treated as transformers treats that of chat templates: the first line feed after a block tag,
    /// white space between the start of a line and a block tag, and a line feed at the very end are dropped.
    private let isChat: Bool
    private var at = 0
    private var line = 1
    /// Whether the tag before the current text ended with a line feed (or there is none).
    private var lineStarting = true
    private var tokens: [TemplateToken] = []

    static func tokens(_ text: String, isChat: Bool) throws -> [TemplateToken] {
        var lexer = TemplateLexer(text, isChat: isChat)
        while lexer.at < lexer.source.count { try lexer.textAndTag() }
        lexer.emit(.end, to: lexer.at)
        return lexer.tokens
    }

    private init(_ text: String, isChat: Bool) {
        source = Array((isChat && text.utf8.last == 0x0A ? text.dropLast() : text[...]).unicodeScalars)
        self.isChat = isChat
    }

    // MARK: Text and tags

    private mutating func textAndTag() throws {
        var begin = at
        while begin < source.count,
            !(source[begin] == "{" && ["{", "%", "#"].contains(character(begin + 1)))
        {
            begin += 1
        }
        let kind = character(begin + 1)
        let strips = character(begin + 2) == "-"
        let end = textEnd(before: begin, strips: strips, isVariable: kind == "{")
        if end > at {
            tokens.append(TemplateToken(kind: .data(PythonText.string(source[at..<end])), line: line))
        }
        move(to: begin)
        guard let kind else { return }
        if kind == "#" { return try comment(begin + (strips ? 3 : 2)) }
        let opening = line
        emit(.sign("{\(kind)"), to: begin + (strips ? 3 : 2))
        try inside(end: kind == "{" ? "}}" : "%}", opening: opening)
    }

    /// Returns the end of the text that a tag leaves before it.
    private func textEnd(before begin: Int, strips: Bool, isVariable: Bool) -> Int {
        var end = begin
        while end > at, PythonText.isSpace(source[end - 1]), strips || source[end - 1] != "\n" { end -= 1 }
        if strips { return end }
        guard begin < source.count, isChat, !isVariable else { return begin }
        let isLineStart = end > at ? source[end - 1] == "\n" : lineStarting
        return isLineStart ? end : begin
    }

    private mutating func comment(_ start: Int) throws {
        var end = start
        while !matches(end, "#}") {
            guard end < source.count else { throw fault("the comment that begins here has no end") }
            end += 1
        }
        if character(start) == "+" || source[end - 1] == "+" {
            throw unsupported("a comment that begins or ends with '+' is not supported")
        }
        endTag(end + 2, strips: end > start && source[end - 1] == "-", isVariable: false)
    }

    /// Continues after a tag's end and the white space that it removes.
    private mutating func endTag(_ end: Int, strips: Bool, isVariable: Bool) {
        var end = end
        if strips {
            end = skipSpace(end)
        } else if isChat, !isVariable, character(end) == "\n" {
            end += 1
        }
        lineStarting = source[end - 1] == "\n"
        move(to: end)
    }

    // MARK: Inside tags

    private mutating func inside(end: String, opening: Int) throws {
        var open: [Unicode.Scalar] = []
        while true {
            move(to: skipSpace(at))
            if open.isEmpty, matches(at, end) || matches(at, "-" + end) {
                let strips = source[at] == "-"
                emit(.sign(end), to: at)
                return endTag(at + (strips ? 3 : 2), strips: strips, isVariable: end == "}}")
            }
            guard let scalar = character(at) else {
                throw fault("the tag that begins here has no end '\(end)'", opening)
            }
            if isDigit(scalar) {
                try number()
            } else if scalar.properties.isXIDStart || scalar == "_" {
                let end = wordEnd(at + 1)
                emit(.name(PythonText.string(source[at..<end])), to: end)
            } else if scalar == "'" || scalar == "\"" {
                try string(quote: scalar)
            } else {
                try sign(scalar, &open)
            }
        }
    }

    private mutating func sign(_ scalar: Unicode.Scalar, _ open: inout [Unicode.Scalar]) throws {
        for sign in ["//", "**", "==", "!=", ">=", "<="] where matches(at, sign) {
            return emit(.sign(sign), to: at + 2)
        }
        switch scalar {
        case "(": open.append(")")
        case "[": open.append("]")
        case "{": open.append("}")
        case ")", "]", "}":
            guard let expected = open.popLast() else { throw fault("'\(scalar)' closes nothing") }
            guard expected == scalar else { throw fault("'\(scalar)' where '\(expected)' is expected") }
        case "+", "-", "/", "*", "%", "~", ">", "<", "=", ".", ":", "|", ",", ";": break
        default:
            let code = String(scalar.value, radix: 16, uppercase: true)
            throw fault(
                "unexpected character U+\(String(repeating: "0", count: max(0, 4 - code.count)))\(code)")
        }
        emit(.sign(String(scalar)), to: at + 1)
    }

    private mutating func number() throws {
        var end = digitsEnd(at)
        let isFloat =
            source[at - 1] != "." && character(end) == "." && character(end + 1).map(isDigit) == true
        if isFloat { end = digitsEnd(end + 1) }
        let text = PythonText.string(source[at..<wordEnd(end)])
        guard wordEnd(end) == end else {
            throw unsupported(
                "the number '\(text.prefix(40))' is not supported: write it as in 1000 or 0.001")
        }
        if isFloat { return emit(.double(Double(text) ?? .infinity), to: end) }
        if text.utf8.count > 1, text.hasPrefix("0") { throw fault("'\(text)' is not a number") }
        guard let value = Int(text) else {
            throw unsupported("the number \(text.prefix(40)) does not fit 64 bits")
        }
        emit(.int(value), to: end)
    }

    private mutating func string(quote: Unicode.Scalar) throws {
        var text = String.UnicodeScalarView()
        var i = at + 1
        while let scalar = character(i), scalar != quote {
            i += 1
            guard scalar == "\\", let escape = character(i) else {
                text.append(scalar)
                continue
            }
            i += 1
            switch escape {
            case "\n": break
            case "\\", "'", "\"": text.append(escape)
            case "n": text.append("\n")
            case "r": text.append("\r")
            case "t": text.append("\t")
            case "u":
                let digits = PythonText.string(source[i..<min(i + 4, source.count)])
                guard digits.utf8.count == 4, let code = UInt32(digits, radix: 16), digits.first != "+" else {
                    throw fault("an escape in a string needs 4 hex digits")
                }
                guard let scalar = Unicode.Scalar(code) else {
                    throw unsupported("\\u\(digits) in a string is no character by itself")
                }
                text.append(scalar)
                i += 4
            case "N", "U", "x", "0"..."7", "a", "b", "f", "v":
                throw unsupported(
                    "the escape '\\\(escape)' in a string is not supported; \\u with 4 hex digits is")
            // Python keeps unknown escapes.
            default: text.append(contentsOf: ["\\", escape])
            }
        }
        guard i < source.count else { throw fault("the string that begins here has no end") }
        emit(.string(String(text)), to: i + 1)
    }

    // MARK: Helpers

    private func character(_ i: Int) -> Unicode.Scalar? { i < source.count ? source[i] : nil }

    private func matches(_ i: Int, _ text: String) -> Bool {
        source[min(i, source.count)...].starts(with: text.unicodeScalars)
    }

    private func skipSpace(_ start: Int) -> Int { end(start, PythonText.isSpace) }
    private func wordEnd(_ start: Int) -> Int { end(start) { $0.properties.isXIDContinue } }
    private func digitsEnd(_ start: Int) -> Int { end(start, isDigit) }

    private func end(_ start: Int, _ isWithin: (Unicode.Scalar) -> Bool) -> Int {
        source[start...].firstIndex { !isWithin($0) } ?? source.count
    }

    private func isDigit(_ scalar: Unicode.Scalar) -> Bool { (0x30...0x39).contains(scalar.value) }

    private mutating func emit(_ kind: TemplateToken.Form, to end: Int) {
        tokens.append(TemplateToken(kind: kind, line: line))
        move(to: end)
    }

    private mutating func move(to end: Int) {
        for i in at..<end where source[i] == "\n" { line += 1 }
        at = end
    }

    private func unsupported(_ message: String) -> any Error {
        templateFault(.unsupported, line: line, message)
    }

    private func fault(_ message: String, _ line: Int? = nil) -> any Error {
        templateFault(.malformed, line: line ?? self.line, message)
    }
}
