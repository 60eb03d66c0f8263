/// Texts on one line or several; line ends become spaces.
extension YAMLReader {
    // MARK: Plain

    mutating func plain(in indent: Int) throws(SettingProblem) -> YAMLNode {
        guard !isAtEnd, canBeginPlain else {
            throw fault(
                isAtEnd
                    ? "a value is missing at the end"
                    : "a text can't begin with \(Character(Unicode.Scalar(peek()))); put it in \"quotes\"")
        }
        let startLine = line
        var text: [UInt8] = []
        while true {
            let start = at
            var end = at
            while !endsPlain(start) {
                at += 1
                if !Self.isBlank(bytes[at - 1]) { end = at }
            }
            text += bytes[start..<end]
            guard Self.isBreak(peek()) else { break }
            let before = self
            let breaks = takeBreaks()
            let isBelow = brackets == 0 && column <= indent
            guard !isAtEnd, !isAtMarker, !isBelow, peek() != UInt8(ascii: "#"), !endsPlain(at) else {
                self = before
                break
            }
            text += Self.folded(breaks)
        }
        return YAMLNode(
            content: .scalar(String(decoding: text, as: UTF8.self), isPlain: true), line: startLine)
    }

    private var canBeginPlain: Bool {
        switch peek() {
        case UInt8(ascii: "-"), UInt8(ascii: "?"), UInt8(ascii: ":"):
            !Self.endsWord(peek(1)) && !(brackets > 0 && Self.isBracket(peek(1)))
        case let byte: !Self.isBracket(byte) && !"#&*!|>'\"%@`".utf8.contains(byte)
        }
    }

    private func endsPlain(_ start: Int) -> Bool {
        let byte = peek()
        if byte == 0 || Self.isBreak(byte) { return true }
        if brackets > 0, Self.isBracket(byte) { return true }
        if byte == UInt8(ascii: ":") { return isSign(":") }
        return byte == UInt8(ascii: "#") && at > start && Self.isBlank(bytes[at - 1])
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

    private static func folded(_ breaks: Int) -> [UInt8] {
        breaks == 1 ? [0x20] : [UInt8](repeating: 0x0A, count: breaks - 1)
    }

    // MARK: Quoted

    mutating func quoted() throws(SettingProblem) -> YAMLNode {
        let (startLine, quote) = (line, peek())
        let isSingle = quote == UInt8(ascii: "'")
        var text: [UInt8] = []
        at += 1
        // Blanks at the end of a line are dropped, except those written as escapes.
        var solid = 0
        while true {
            guard !isAtEnd, !isAtMarker else {
                throw fault("a text in quotes that begins in line \(startLine) is not closed")
            }
            let byte = peek()
            if byte == quote, isSingle, peek(1) == quote {
                text.append(byte)
                at += 2
                solid = text.count
            } else if byte == quote {
                at += 1
                break
            } else if byte == UInt8(ascii: "\\"), !isSingle {
                at += 1
                if Self.isBreak(peek()) {
                    text += [UInt8](repeating: 0x0A, count: takeBreaks() - 1)
                } else {
                    try escape(&text)
                }
                solid = text.count
            } else if Self.isBreak(byte) {
                text.removeSubrange(max(solid, Self.blankEnd(of: text))...)
                text += Self.folded(takeBreaks())
                solid = text.count
            } else {
                text.append(byte)
                at += 1
            }
        }
        return YAMLNode(
            content: .scalar(String(decoding: text, as: UTF8.self), isPlain: false), line: startLine)
    }

    /// Returns the index of the trailing blanks.
    private static func blankEnd(of text: [UInt8]) -> Int { (text.lastIndex { !isBlank($0) } ?? -1) + 1 }

    /// Reads an escape after its backslash.
    private mutating func escape(_ text: inout [UInt8]) throws(SettingProblem) {
        let byte = peek()
        at += 1
        let scalar: Unicode.Scalar
        switch byte {
        case UInt8(ascii: "b"): scalar = "\u{08}"
        case UInt8(ascii: "t"): scalar = "\t"
        case UInt8(ascii: "n"): scalar = "\n"
        case UInt8(ascii: "f"): scalar = "\u{0C}"
        case UInt8(ascii: "r"): scalar = "\r"
        case UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "'"):
            scalar = Unicode.Scalar(byte)
        case UInt8(ascii: "x"): scalar = try escaped(digits: 2)
        case UInt8(ascii: "u"): scalar = try escaped(digits: 4)
        case UInt8(ascii: "U"): scalar = try escaped(digits: 8)
        default: throw fault("an unknown escape after \\; a backslash itself is \\\\ in \"quotes\"")
        }
        text += Array(String(scalar).utf8)
    }

    private mutating func escaped(digits: Int) throws(SettingProblem) -> Unicode.Scalar {
        var value = try number(digits: digits)
        // JSON writes a character beyond U+FFFF as two.
        if 0xD800...0xDBFF ~= value, digits == 4, peek() == UInt8(ascii: "\\"), peek(1) == UInt8(ascii: "u") {
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
        return scalar
    }

    private mutating func number(digits: Int) throws(SettingProblem) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let digit = Character(Unicode.Scalar(peek())).hexDigitValue else {
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
    private struct Header {
        var isFolded: Bool
        /// Indentation of the text's lines below its parent; nil: the first line's.
        var indentation: Int?
        /// Line ends after the text: none for `-`, all for `+`, else one.
        var end: UInt8?
    }

    mutating func blockScalar(in indent: Int) throws(SettingProblem) -> YAMLNode {
        let startLine = line
        let header = try header()
        // Lines that begin with a blank are not joined.
        var text: [UInt8] = []
        var breaks = 0
        var wasBlank = false
        var isFirst = true
        var margin = header.indentation.map { max(indent, 0) + $0 }
        if margin == nil { margin = try findMargin(in: indent, &breaks) }
        while let margin {
            let before = self
            while column < margin, peek() == 0x20 { at += 1 }
            if Self.isBreak(peek()) {
                takeBreak()
                breaks += 1
                continue
            }
            guard !isAtEnd, column == margin, !isAtMarker else {
                if column < margin, peek() == 0x09 { throw fault("a line is indented by a tab; use spaces") }
                self = before
                break
            }
            let isBlank = Self.isBlank(peek())
            let joins = header.isFolded && !isFirst && !isBlank && !wasBlank
            if joins, breaks == 1 {
                text.append(0x20)
            } else {
                text += [UInt8](repeating: 0x0A, count: joins ? breaks - 1 : breaks)
            }
            let start = at
            skipLine()
            text += bytes[start..<at]
            (isFirst, wasBlank, breaks) = (false, isBlank, 0)
            if isAtEnd { break }
            takeBreak()
            breaks = 1
        }
        // The end of the last line, and empty ones after it.
        let kept =
            header.end == UInt8(ascii: "+") ? breaks : header.end == nil && !isFirst ? min(breaks, 1) : 0
        text += [UInt8](repeating: 0x0A, count: kept)
        return YAMLNode(
            content: .scalar(String(decoding: text, as: UTF8.self), isPlain: false), line: startLine)
    }

    private mutating func header() throws(SettingProblem) -> Header {
        var header = Header(isFolded: peek() == UInt8(ascii: ">"))
        at += 1
        for _ in 0..<2 {
            switch peek() {
            case UInt8(ascii: "-") where header.end == nil, UInt8(ascii: "+") where header.end == nil:
                header.end = peek()
            case UInt8(ascii: "1")...UInt8(ascii: "9") where header.indentation == nil:
                header.indentation = Int(peek() & 15)
            default: continue
            }
            at += 1
        }
        let hasBlank = Self.isBlank(peek())
        skipBlanks()
        if peek() == UInt8(ascii: "#"), hasBlank { skipLine() }
        guard isAtEnd || Self.isBreak(peek()) else {
            throw fault("a text after | or > begins on the next line; quote one that begins with them")
        }
        if !isAtEnd { takeBreak() }
        return header
    }

    /// Returns the column of the first line that is not empty, or the most spaces before it.
    private mutating func findMargin(in indent: Int, _ breaks: inout Int) throws(SettingProblem) -> Int {
        var margin = max(indent + 1, 1)
        while true {
            let before = self
            while peek() == 0x20 { at += 1 }
            margin = max(margin, column)
            if peek() == 0x09, column < margin { throw fault("a line is indented by a tab; use spaces") }
            guard Self.isBreak(peek()) else {
                self = before
                return margin
            }
            takeBreak()
            breaks += 1
        }
    }
}
