/// Treatment of the text around tags.
enum TemplateWhitespace {
    /// As transformers reads chat templates: the first line feed after a block tag, white space between the start of a
    /// line and a block tag, and a line feed at the very end are dropped.
    case chat
    /// Every character outside tags stays.
    case exact
}

/// Cuts a template into tokens, as Jinja 3.1 does.
struct TemplateLexer {
    let source: [Unicode.Scalar]
    private let whitespace: TemplateWhitespace
    private(set) var at = 0
    private(set) var line = 1
    /// Whether the tag before the current text ended with a line feed (or there is none).
    private var lineStarting = true
    private var tokens: [TemplateToken] = []

    static func tokens(_ text: String, _ whitespace: TemplateWhitespace) throws -> [TemplateToken] {
        var lexer = TemplateLexer(text, whitespace)
        try lexer.run()
        return lexer.tokens
    }

    private init(_ text: String, _ whitespace: TemplateWhitespace) {
        source = Array(
            (whitespace == .chat && text.utf8.last == 0x0A ? text.dropLast() : text[...]).unicodeScalars)
        self.whitespace = whitespace
    }

    private mutating func run() throws {
        while at < source.count {
            let begin = nextTag(from: at)
            guard begin < source.count else {
                emitText(at..<source.count)
                break
            }
            try tag(text: at..<begin)
        }
        tokens.append(TemplateToken(kind: .end, line: line))
    }

    // MARK: Text and tags

    private func nextTag(from start: Int) -> Int {
        var i = start
        while i + 1 < source.count {
            if source[i] == "{" && (source[i + 1] == "{" || source[i + 1] == "%" || source[i + 1] == "#") {
                return i
            }
            i += 1
        }
        return source.count
    }

    private mutating func tag(text: Range<Int>) throws {
        let begin = text.upperBound
        let kind = source[begin + 1]
        let sign = character(begin + 2).flatMap { $0 == "-" || $0 == "+" ? $0 : nil }
        emitText(stripped(text, sign: sign, isVariable: kind == "{"))
        move(to: begin)
        let opening = line
        move(to: begin + (sign == nil ? 2 : 3))
        switch kind {
        case "#": try comment()
        case "{":
            tokens.append(TemplateToken(kind: .variableBegin, line: opening))
            try inside(isBlock: false, opening: opening)
        default:
            tokens.append(TemplateToken(kind: .blockBegin, line: opening))
            try inside(isBlock: true, opening: opening)
        }
    }

    /// The part of `text` that the tag after it leaves.
    private func stripped(_ text: Range<Int>, sign: Unicode.Scalar?, isVariable: Bool) -> Range<Int> {
        var end = text.upperBound
        while end > text.lowerBound, PythonText.isSpace(source[end - 1]) {
            if sign != "-", source[end - 1] == "\n" { break }
            end -= 1
        }
        if sign == "-" { return text.lowerBound..<end }
        guard sign == nil, whitespace == .chat, !isVariable else { return text }
        let atLineStart = end > text.lowerBound || lineStarting
        let onlySpace = end == text.lowerBound || source[end - 1] == "\n"
        return atLineStart && onlySpace ? text.lowerBound..<end : text
    }

    private mutating func emitText(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        tokens.append(TemplateToken(kind: .data(PythonText.string(source[range])), line: line))
    }

    private mutating func comment() throws {
        let opening = line
        var i = at
        while i + 1 < source.count, !(source[i] == "#" && source[i + 1] == "}") { i += 1 }
        guard i + 1 < source.count else { throw fault("the comment that begins here has no end", opening) }
        // A sign before the end belongs to it, but not one that is the sign of the beginning.
        var end = i + 2
        if i > at, source[i - 1] == "-" {
            end = skipSpace(end)
        } else if !(i > at && source[i - 1] == "+"), whitespace == .chat, character(end) == "\n" {
            end += 1
        }
        lineStarting = source[end - 1] == "\n"
        move(to: end)
    }

    /// The position after the end of a block tag, if one is here.
    private func blockEnd(_ i: Int) -> Int? {
        if matches(i, "-%}") { return skipSpace(i + 3) }
        if matches(i, "+%}") { return i + 3 }
        guard matches(i, "%}") else { return nil }
        return whitespace == .chat && character(i + 2) == "\n" ? i + 3 : i + 2
    }

    private func variableEnd(_ i: Int) -> Int? {
        if matches(i, "-}}") { return skipSpace(i + 3) }
        return matches(i, "}}") ? i + 2 : nil
    }

    // MARK: Inside tags

    private mutating func inside(isBlock: Bool, opening: Int) throws {
        var open: [Unicode.Scalar] = []
        while true {
            move(to: skipSpace(at))
            if open.isEmpty, let end = isBlock ? blockEnd(at) : variableEnd(at) {
                tokens.append(TemplateToken(kind: isBlock ? .blockEnd : .variableEnd, line: line))
                lineStarting = source[end - 1] == "\n"
                return move(to: end)
            }
            guard at < source.count else {
                throw fault("the tag that begins here has no end '\(isBlock ? "%}" : "}}")'", opening)
            }
            let scalar = source[at]
            if scalar.isASCIIDigit {
                try number()
            } else if scalar.properties.isXIDStart || scalar == "_" {
                var end = at + 1
                while end < source.count, source[end].properties.isXIDContinue { end += 1 }
                emit(.name(PythonText.string(source[at..<end])), to: end)
            } else if scalar == "'" || scalar == "\"" {
                try string(quote: scalar)
            } else {
                try sign(&open)
            }
        }
    }

    private mutating func sign(_ open: inout [Unicode.Scalar]) throws {
        for sign in ["//", "**", "==", "!=", ">=", "<="] where matches(at, sign) {
            return emit(.sign(sign), to: at + 2)
        }
        let scalar = source[at]
        switch scalar {
        case "(": open.append(")")
        case "[": open.append("]")
        case "{": open.append("}")
        case ")", "]", "}":
            guard let expected = open.popLast() else { throw fault("'\(scalar)' closes nothing", line) }
            guard expected == scalar else {
                throw fault("'\(scalar)' stands where '\(expected)' should", line)
            }
        case "+", "-", "/", "*", "%", "~", ">", "<", "=", ".", ":", "|", ",", ";": break
        default:
            let code = String(scalar.value, radix: 16, uppercase: true)
            throw fault(
                "unexpected character U+\(String(repeating: "0", count: max(0, 4 - code.count)))\(code)", line
            )
        }
        emit(.sign(String(scalar)), to: at + 1)
    }

    // MARK: Helpers

    func character(_ i: Int) -> Unicode.Scalar? { i < source.count ? source[i] : nil }

    func matches(_ i: Int, _ text: String) -> Bool {
        var i = i
        for scalar in text.unicodeScalars {
            guard i < source.count, source[i] == scalar else { return false }
            i += 1
        }
        return true
    }

    func skipSpace(_ start: Int) -> Int {
        var i = start
        while i < source.count, PythonText.isSpace(source[i]) { i += 1 }
        return i
    }

    mutating func emit(_ kind: TemplateToken.Kind, to end: Int) {
        tokens.append(TemplateToken(kind: kind, line: line))
        move(to: end)
    }

    mutating func move(to end: Int) {
        for i in at..<end where source[i] == "\n" { line += 1 }
        at = end
    }

    func fault(_ message: String, _ line: Int) -> TemplateFault {
        TemplateFault(kind: .malformed, line: line, message: message)
    }
}
