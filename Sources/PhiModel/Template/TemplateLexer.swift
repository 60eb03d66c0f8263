struct TemplateToken: Equatable {
    enum Kind: Equatable {
        case data(String)
        case variableBegin
        case variableEnd
        case blockBegin
        case blockEnd
        case name(String)
        case string(String)
        case int(Int)
        case double(Double)
        case sign(String)
        case end
    }

    let kind: Kind
    let line: Int

    /// What messages call it.
    var spelling: String {
        switch kind {
        case .data: "text"
        case .variableBegin: "'{{'"
        case .variableEnd: "'}}'"
        case .blockBegin: "'{%'"
        case .blockEnd: "'%}'"
        case .name(let name): "'\(name)'"
        case .string: "a string"
        case .int, .double: "a number"
        case .sign(let sign): "'\(sign)'"
        case .end: "the end of the template"
        }
    }
}

/// How the text around tags is treated.
struct TemplateWhitespace: Sendable {
    /// The first line feed behind a block tag is dropped.
    var trimBlocks: Bool
    /// White space between the start of a line and a block tag is dropped.
    var lstripBlocks: Bool
    /// All line ends become "\n", and one at the very end of the template is dropped, as Jinja does unless
    /// told otherwise.
    var normalizesLineEnds: Bool

    /// As transformers reads chat templates.
    static let chat = TemplateWhitespace(trimBlocks: true, lstripBlocks: true, normalizesLineEnds: true)
    /// Every character outside tags stays.
    static let exact = TemplateWhitespace(trimBlocks: false, lstripBlocks: false, normalizesLineEnds: false)
}

/// Cuts a template into tokens, as Jinja 3.1 does.
struct TemplateLexer {
    private let source: [Unicode.Scalar]
    private let whitespace: TemplateWhitespace
    private var at = 0
    private var line = 1
    /// Whether the tag before the current text ended with a line feed (or there is none).
    private var lineStarting = true
    private var tokens: [TemplateToken] = []

    static func tokens(_ text: String, _ whitespace: TemplateWhitespace) throws -> [TemplateToken] {
        var lexer = TemplateLexer(text, whitespace)
        try lexer.run()
        return lexer.tokens
    }

    private init(_ text: String, _ whitespace: TemplateWhitespace) {
        var scalars = Array(text.unicodeScalars)
        if whitespace.normalizesLineEnds {
            var normalized: [Unicode.Scalar] = []
            normalized.reserveCapacity(scalars.count)
            for (i, scalar) in scalars.enumerated() {
                if scalar == "\n", i > 0, scalars[i - 1] == "\r" { continue }
                normalized.append(scalar == "\r" ? "\n" : scalar)
            }
            if normalized.last == "\n" { normalized.removeLast() }
            scalars = normalized
        }
        source = scalars
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
        if kind == "%", let afterRaw = rawBegin(begin) {
            move(to: afterRaw)
            lineStarting = source[afterRaw - 1] == "\n"
            return try raw()
        }
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

    /// The part of `text` that the tag behind it leaves.
    private func stripped(_ text: Range<Int>, sign: Unicode.Scalar?, isVariable: Bool) -> Range<Int> {
        var end = text.upperBound
        while end > text.lowerBound, PythonText.isSpace(source[end - 1]) {
            if sign != "-", source[end - 1] == "\n" { break }
            end -= 1
        }
        if sign == "-" { return text.lowerBound..<end }
        guard sign == nil, whitespace.lstripBlocks, !isVariable else { return text }
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
        } else if !(i > at && source[i - 1] == "+"), whitespace.trimBlocks, character(end) == "\n" {
            end += 1
        }
        lineStarting = source[end - 1] == "\n"
        move(to: end)
    }

    /// The position behind `{% raw %}` if that is what begins here.
    private func rawBegin(_ begin: Int) -> Int? {
        guard let afterWord = tagWord(begin, "raw") else { return nil }
        if matches(afterWord, "-%}") { return skipSpace(afterWord + 3) }
        return matches(afterWord, "%}") ? afterWord + 2 : nil
    }

    private mutating func raw() throws {
        let opening = line
        var i = at
        while i < source.count {
            guard source[i] == "{", let afterWord = tagWord(i, "endraw"), let end = blockEnd(afterWord) else {
                i += 1
                continue
            }
            let sign = character(i + 2).flatMap { $0 == "-" || $0 == "+" ? $0 : nil }
            emitText(stripped(at..<i, sign: sign, isVariable: false))
            lineStarting = source[end - 1] == "\n"
            move(to: end)
            return
        }
        throw fault("the raw block that begins here has no endraw", opening)
    }

    /// The position behind `{%`, a sign, and this word with white space around it.
    private func tagWord(_ begin: Int, _ word: String) -> Int? {
        guard matches(begin, "{%") else { return nil }
        var i = begin + 2
        if let sign = character(i), sign == "-" || sign == "+" { i += 1 }
        i = skipSpace(i)
        guard matches(i, word) else { return nil }
        return skipSpace(i + word.utf8.count)
    }

    /// The position behind the end of a block tag, if one is here.
    private func blockEnd(_ i: Int) -> Int? {
        if matches(i, "-%}") { return skipSpace(i + 3) }
        if matches(i, "+%}") { return i + 3 }
        guard matches(i, "%}") else { return nil }
        return whitespace.trimBlocks && character(i + 2) == "\n" ? i + 3 : i + 2
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

    private mutating func number() throws {
        let afterDot = at > 0 && source[at - 1] == "."
        if !afterDot, let end = floatEnd(at) {
            let text = PythonText.string(source[at..<end].filter { $0 != "_" })
            guard let value = Double(text) else { throw fault("'\(text)' is not a number", line) }
            return emit(.double(value), to: end)
        }
        var base = 10
        var end = at
        if source[at] == "0", let letter = character(at + 1)?.lowered,
            let found = ["b": 2, "o": 8, "x": 16][String(letter)],
            let first = character(at + 2),
            first.digit(base: found) != nil || first == "_"
        {
            base = found
            end = at + 2
        }
        let digits = end
        while let next = character(end), next.digit(base: base) != nil || next == "_" { end += 1 }
        let text = PythonText.string(source[digits..<end])
        let leadsWithZero = base == 10 && text.hasPrefix("0") && text.contains { $0 != "0" && $0 != "_" }
        let plain = text.replacing("_", with: "")
        if text.hasSuffix("_") || text.contains("__") || leadsWithZero {
            throw fault("'\(text)' is not a number", line)
        }
        guard let value = Int(plain, radix: base) else {
            throw TemplateFault(
                kind: .unsupported, line: line, message: "the number \(plain.prefix(40)) does not fit 64 bits"
            )
        }
        emit(.int(value), to: end)
    }

    /// The end of the float that begins here: digits with a fraction, an exponent, or both.
    private func floatEnd(_ start: Int) -> Int? {
        guard let whole = digitsEnd(start) else { return nil }
        var end = whole
        var isFloat = false
        if character(end) == ".", let fraction = digitsEnd(end + 1) {
            end = fraction
            isFloat = true
        }
        if character(end)?.lowered == "e" {
            var i = end + 1
            if let sign = character(i), sign == "+" || sign == "-" { i += 1 }
            if let exponent = digitsEnd(i) {
                end = exponent
                isFloat = true
            }
        }
        return isFloat ? end : nil
    }

    private func digitsEnd(_ start: Int) -> Int? {
        guard character(start)?.isASCIIDigit == true else { return nil }
        var i = start
        while let scalar = character(i) {
            if scalar.isASCIIDigit {
                i += 1
            } else if scalar == "_", character(i + 1)?.isASCIIDigit == true {
                i += 2
            } else {
                break
            }
        }
        return i
    }

    private mutating func string(quote: Unicode.Scalar) throws {
        var end = at + 1
        while let scalar = character(end), scalar != quote { end += scalar == "\\" ? 2 : 1 }
        guard end < source.count else { throw fault("the string that begins here has no end", line) }
        let text = try StringEscapes.decode(source[(at + 1)..<end], line: line)
        emit(.string(text), to: end + 1)
    }

    // MARK: Helpers

    private func character(_ i: Int) -> Unicode.Scalar? { i < source.count ? source[i] : nil }

    private func matches(_ i: Int, _ text: String) -> Bool {
        var i = i
        for scalar in text.unicodeScalars {
            guard i < source.count, source[i] == scalar else { return false }
            i += 1
        }
        return true
    }

    private func skipSpace(_ start: Int) -> Int {
        var i = start
        while i < source.count, PythonText.isSpace(source[i]) { i += 1 }
        return i
    }

    private mutating func emit(_ kind: TemplateToken.Kind, to end: Int) {
        tokens.append(TemplateToken(kind: kind, line: line))
        move(to: end)
    }

    private mutating func move(to end: Int) {
        for i in at..<end where source[i] == "\n" { line += 1 }
        at = end
    }

    private func fault(_ message: String, _ line: Int) -> TemplateFault {
        TemplateFault(kind: .malformed, line: line, message: message)
    }
}

extension Unicode.Scalar {
    var isASCIIDigit: Bool { (0x30...0x39).contains(value) }

    fileprivate var lowered: Unicode.Scalar {
        (0x41...0x5A).contains(value) ? Unicode.Scalar(UInt8(value) | 0x20) : self
    }

    func digit(base: Int) -> Int? {
        let lowered = self.lowered.value
        let digit: Int
        switch lowered {
        case 0x30...0x39: digit = Int(lowered) - 0x30
        case 0x61...0x7A: digit = Int(lowered) - 0x61 + 10
        default: return nil
        }
        return digit < base ? digit : nil
    }
}
