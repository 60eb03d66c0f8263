import Errors
import JSON

/// Elements of a JSON array, in any layout, which correspond to lines.
///
/// Elements are split by brackets and quotes, one at a time, so that memory depends only on the longest element. An
/// invalid element fails alone. After a fault between elements the rest is not read, as in a truncated file.
///
/// An element without an id is identified by its number in the array, from 1, as several may begin on one line.
struct JSONArrayElements {
    private enum Position { case start, first, afterElement, over }

    private let source: ByteSource
    private let limit: Int
    private var position = Position.start
    /// Line of the next byte, from 1.
    private var line = 1

    init(source: ByteSource, limit: Int) { (self.source, self.limit) = (source, limit) }

    mutating func next() throws -> InputRecord? {
        if position == .over { return nil }
        if position == .start {
            // Also after a byte order mark.
            guard let first = try take(until: { !Self.isSpace($0) && ![0xEF, 0xBB, 0xBF].contains($0) })
            else { return end("there is no JSON array, which begins with [ and ends with ].") }
            guard first == UInt8(ascii: "[") else {
                let shown = (0x21...0x7E).contains(first) ? String(Unicode.Scalar(first)) : "byte \(first)"
                throw UserError(
                    .badJob, at: "\(source.name):\(line)",
                    "is no JSON array: it begins with \(shown) and not with [.")
            }
            try takeOne()
            position = .first
        }
        var byte = try take(until: { !Self.isSpace($0) })
        if byte == UInt8(ascii: "]") {
            try takeOne()
            guard try take(until: { !Self.isSpace($0) }) == nil else {
                return end("something follows the end of the array.")
            }
            position = .over
            return nil
        }
        if position == .afterElement, byte == UInt8(ascii: ",") {
            try takeOne()
            byte = try take(until: { !Self.isSpace($0) })
        } else if position == .afterElement, byte != nil {
            return end("a comma is missing in the array.")
        }
        guard let byte else { return end("the array has no end: there is no ].") }
        guard byte != UInt8(ascii: ","), byte != UInt8(ascii: "]") else {
            return end("the array has a comma without an element.")
        }
        position = .afterElement
        return try element()
    }

    private mutating func element() throws -> InputRecord {
        let start = line
        var text = LimitedText(limit: limit)
        var (depth, isInString, isEscaped, isWhole) = (0, false, false, false)
        func isAfter(_ byte: UInt8) -> Bool {
            if isWhole { return true }
            if isInString {
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                isWhole = !isInString && depth == 0
                return false
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return true }
                depth -= 1
                isWhole = depth == 0
            case UInt8(ascii: ","): return depth == 0
            default: return depth == 0 && Self.isSpace(byte)
            }
            return false
        }
        let next = try take(until: isAfter) { text.append($0) }
        // A number or a word ends with the file as well.
        guard next != nil || isWhole || depth == 0 && !isInString else {
            return end("the array's element that begins here has no end.", at: start)
        }
        return record(text, at: start)
    }

    private func record(_ text: LimitedText, at line: Int) -> InputRecord {
        source.lineCount += 1
        return InputRecord(text: text, number: line, place: source.lineCount) { bytes throws(LineError) in
            InputFormat.requestsOrNative.content(of: try PromptRecord.parseObject(bytes, elementAt: line))
        }
    }

    /// - Parameter what: the reason why nothing more is read.
    private mutating func end(_ what: Message, at line: Int? = nil) -> InputRecord {
        position = .over
        var record = record(LimitedText(), at: line ?? self.line)
        record.whatIsBroken = what
        return record
    }

    // MARK: Bytes

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// Takes bytes before one for which a condition holds.
    /// - Parameter body: receives the bytes taken.
    /// - Returns: that byte, which is the next one; nil at the end.
    private mutating func take(
        until isEnd: (UInt8) -> Bool, _ body: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) throws -> UInt8? {
        var next: UInt8?
        while next == nil,
            try source.take({ piece in
                var count = 0
                while count < piece.count, !isEnd(piece[count]) {
                    if piece[count] == 0x0A { line += 1 }
                    count += 1
                }
                if count < piece.count { next = piece[count] }
                body(UnsafeRawBufferPointer(rebasing: piece[..<count]))
                return count
            })
        {}
        return next
    }

    private func takeOne() throws { _ = try source.take { _ in 1 } }
}
