import Errors
import JSON

/// Elements of a JSON array, in any layout, which correspond to lines.
///
/// Elements are split by brackets and quotes, one at a time, so that memory depends only on the longest element. An
/// invalid element fails alone. If brackets or quotes don't match, the rest is not read, as in a truncated file.
///
/// An element without an id is identified by its number in the array, from 1, as several may begin on one line.
struct JSONArrayElements {
    private enum Position {
        case beforeArray, first, afterComma, afterElement, afterArray
        /// Nothing more is read.
        case over
    }

    private let source: ByteSource
    private let limit: Int
    private var place = Position.beforeArray
    private var scan = JSONElementScan()
    /// Number of bytes of a byte order mark skipped so far.
    private var markLength = 0

    init(source: ByteSource, limit: Int) { (self.source, self.limit) = (source, limit) }

    mutating func next() throws -> InputRecord? {
        while place != .over {
            guard let byte = try nextByte() else { return atEnd() }
            switch (place, byte) {
            case (.beforeArray, UInt8(ascii: "[")): try pass(to: .first)
            case (.beforeArray, _):
                let shown = (0x21...0x7E).contains(byte) ? String(Unicode.Scalar(byte)) : "byte \(byte)"
                throw UserError(
                    .badJob, at: "\(source.name):\(scan.line)",
                    "is no JSON array: it begins with \(shown) and not with [.")
            case (.first, UInt8(ascii: "]")), (.afterElement, UInt8(ascii: "]")): try pass(to: .afterArray)
            case (.afterComma, UInt8(ascii: "]")):
                try pass(to: .afterArray)
                return record("There is no element after the last comma.")
            case (.first, UInt8(ascii: ",")), (.afterComma, UInt8(ascii: ",")):
                try pass(to: .afterComma)
                return record("There is no element before the comma.")
            case (.afterElement, UInt8(ascii: ",")): try pass(to: .afterComma)
            case (.first, _), (.afterComma, _): return try element(record())
            case (.afterElement, _): return try element(record("There is no comma before the element."))
            case (.afterArray, _): return broken(record(), "something follows the end of the array.")
            case (.over, _): break
            }
        }
        return nil
    }

    private mutating func atEnd() -> InputRecord? {
        switch place {
        case .afterArray, .over: nil
        case .beforeArray:
            broken(record(), "there is no JSON array, which begins with [ and ends with ].")
        case .first, .afterComma, .afterElement: broken(record(), "the array has no end: there is no ].")
        }
    }

    // MARK: Records

    /// - Parameter fault: one that the record's bytes don't show.
    private func record(_ fault: String? = nil) -> InputRecord {
        source.lineCount += 1
        let line = scan.line
        return InputRecord(text: LimitedText(), number: line, place: source.lineCount) {
            bytes throws(LineError) in
            if let fault { throw LineError(.invalidJSON, fault) }
            return InputFormat.requestsOrNative.content(
                of: try PromptRecord.parseObject(bytes, elementAt: line))
        }
    }

    private mutating func broken(_ record: InputRecord, _ what: Message) -> InputRecord {
        var record = record
        record.whatIsBroken = what
        place = .over
        return record
    }

    private mutating func element(_ begun: InputRecord) throws -> InputRecord {
        scan.begin()
        var text = LimitedText(limit: limit)
        var state = JSONElementScan.Position.within
        while state == .within,
            try source.take({ piece in
                let (count, now) = scan.read(piece)
                state = now
                text.append(UnsafeRawBufferPointer(rebasing: piece[..<count]))
                return count
            })
        {}
        var record = begun
        record.text = text
        place = .afterElement
        switch state {
        case .ended: return record
        case .within where scan.isBare: return record
        case .within: return broken(record, "the array's element that begins here has no end.")
        case .wrong(let what):
            return broken(
                record,
                "the array's element that begins here is not valid JSON: \(what) in line \(scan.line). Nothing tells where the next one begins."
            )
        }
    }

    // MARK: Bytes

    /// Peeks at the next byte that isn't white space; nil at the end.
    private mutating func nextByte() throws -> UInt8? {
        var next: UInt8?
        while next == nil,
            try source.take({ piece in
                let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
                if place == .beforeArray, markLength < mark.count, piece[0] == mark[markLength] {
                    markLength += 1
                    return 1
                }
                let count = scan.passSpace(piece)
                if count < piece.count { next = piece[count] }
                return count
            })
        {}
        return next
    }

    /// Takes a byte between elements.
    private mutating func pass(to place: Position) throws {
        _ = try source.take { _ in 1 }
        self.place = place
    }
}

/// Tracks brackets, quotes and line numbers of successive JSON values in bytes of arbitrary pieces. Doesn't validate
/// the values.
private struct JSONElementScan {
    enum Position: Equatable {
        case within
        /// The last byte ended the value.
        case ended
        /// The next byte can't belong to a value, and the value's end is unknown.
        case wrong(String)
    }

    /// Line of the next byte, from 1.
    private(set) var line = 1
    /// Whether the value has neither brackets nor quotes, and so ends before any of them.
    private(set) var isBare = false
    /// Ends of the open arrays and objects.
    private var open: [UInt8] = []
    private var isInString = false
    private var isEscaped = false
    /// The last byte outside strings, except white space.
    private var last: UInt8 = 0

    private static let depthLimit = 4096

    /// Begins a value with the next byte.
    mutating func begin() {
        (isBare, isInString, isEscaped, last) = (false, false, false, 0)
        open.removeAll(keepingCapacity: true)
    }

    /// - Returns: number of bytes that belong to the value.
    mutating func read(_ piece: UnsafeRawBufferPointer) -> (count: Int, Position) {
        var place = 0
        while place < piece.count {
            let byte = piece[place]
            if isInString {
                if byte == 0x0A { return (place, .wrong("a line feed within a string")) }
                place += 1
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    (isInString, last) = (false, byte)
                    if open.isEmpty { return (place, .ended) }
                }
                continue
            }
            switch byte {
            case 0x20, 0x09, 0x0D, 0x0A:
                if isBare { return (place, .ended) }
                if byte == 0x0A { line += 1 }
                place += 1
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if isBare { return (place, .ended) }
                if let what = whyNotOpen { return (place, .wrong(what)) }
                // "}" is two after "{" in ASCII, and so are the others.
                open.append(byte + 2)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if isBare { return (place, .ended) }
                // In place of a value.
                guard let end = open.popLast() else { return (place + 1, .ended) }
                guard end == byte else {
                    return (place, .wrong("\(Unicode.Scalar(byte)) where \(Unicode.Scalar(end)) should be"))
                }
                if open.isEmpty { return (place + 1, .ended) }
            case UInt8(ascii: "\"") where !isBare: isInString = true
            case UInt8(ascii: ","):
                if isBare { return (place, .ended) }
            default: if open.isEmpty { isBare = true }
            }
            last = byte
            place += 1
        }
        return (place, .within)
    }

    private var whyNotOpen: String? {
        switch open.last {
        case nil: nil
        case UInt8(ascii: "}") where last != UInt8(ascii: ":"): "a bracket where a name or } should be"
        case UInt8(ascii: "]") where last != UInt8(ascii: "[") && last != UInt8(ascii: ","):
            "a bracket where , or ] should be"
        default: open.count < Self.depthLimit ? nil : "more than \(Self.depthLimit) brackets are open"
        }
    }

    /// - Returns: number of leading white space bytes.
    mutating func passSpace(_ piece: UnsafeRawBufferPointer) -> Int {
        for (place, byte) in piece.enumerated() {
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return place }
            if byte == 0x0A { line += 1 }
        }
        return piece.count
    }
}
