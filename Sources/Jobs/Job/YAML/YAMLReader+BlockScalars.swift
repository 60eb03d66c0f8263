/// Texts after `|`, which keep their lines, and after `>`, whose lines are joined.
extension YAMLReader {
    private struct Header {
        var isFolded: Bool
        /// How far the text's lines stand beyond what it belongs to; nil: as its first line.
        var indentation: Int?
        /// `-`: no line's end after the text; `+`: all that there are. Else one.
        var end: UInt8?
    }

    mutating func blockScalar(in indent: Int) throws(YAMLFault) -> YAMLNode {
        let startLine = line
        let header = try header()
        // Each line, and whether it begins with a blank, as those do that are not joined.
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

    private mutating func header() throws(YAMLFault) -> Header {
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

    /// The column of the first line that is not empty, or of the longest row of spaces before it.
    private mutating func findMargin(in indent: Int, _ breaks: inout Int) throws(YAMLFault) -> Int {
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
