/// Tracks brackets, quotes and line numbers of successive JSON values in bytes of arbitrary pieces. Doesn't validate
/// the values.
struct JSONElementScan {
    enum Position: Equatable {
        case within
        /// The last byte ended the value.
        case ended
        /// The next byte can't belong to a value, and the value's end is unknown.
        case wrong(String)
    }

    /// Line of the next byte, from 1.
    private(set) var line = 1
    /// Number of white space bytes before the next byte, if nothing else is in its line; else nil.
    var column: Int? = 0
    /// The least column of an object within the value that begins a line.
    private(set) var innerColumn: Int?
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
        (innerColumn, isBare, isInString, isEscaped, last) = (nil, false, false, false, 0)
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
                pass(byte)
                place += 1
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if isBare { return (place, .ended) }
                if let what = whyNotOpen { return (place, .wrong(what)) }
                if byte == UInt8(ascii: "{"), !open.isEmpty, let column {
                    innerColumn = min(innerColumn ?? column, column)
                }
                // "}" is two after "{" in ASCII, and so are the others.
                open.append(byte + 2)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if isBare { return (place, .ended) }
                guard let end = open.popLast() else {
                    // In place of a value.
                    column = nil
                    return (place + 1, .ended)
                }
                guard end == byte else {
                    return (place, .wrong("\(Unicode.Scalar(byte)) where \(Unicode.Scalar(end)) should be"))
                }
                if open.isEmpty {
                    column = nil
                    return (place + 1, .ended)
                }
            case UInt8(ascii: "\"") where !isBare: isInString = true
            case UInt8(ascii: ","):
                if isBare { return (place, .ended) }
            default: if open.isEmpty { isBare = true }
            }
            (last, column) = (byte, nil)
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
            pass(byte)
        }
        return piece.count
    }

    /// - Returns: number of bytes to the end of the line, its line feed included. `column` is nil if there is none.
    mutating func passToLineEnd(_ piece: UnsafeRawBufferPointer) -> Int {
        column = nil
        guard let end = piece.firstIndex(of: 0x0A) else { return piece.count }
        pass(0x0A)
        return end + 1
    }

    private mutating func pass(_ space: UInt8) {
        if space == 0x0A {
            (line, column) = (line + 1, 0)
        } else if let column {
            self.column = column + 1
        }
    }
}
