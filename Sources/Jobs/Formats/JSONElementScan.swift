/// Follows the brackets and quotes of one JSON value after the other, and the lines they stand in, from bytes that come
/// in pieces of any size. That a value is right in itself is not its business.
struct JSONElementScan {
    enum State: Equatable {
        case within
        /// What was read last was its end.
        case ended
        /// No value goes on so, and nothing tells where it ends. What is wrong is the byte that comes next.
        case wrong(String)
    }

    /// The line of the next byte, from 1.
    private(set) var line = 1
    /// How many bytes of white space are before the next byte, if nothing else is in its line; else nil.
    var column: Int? = 0
    /// The least column of an object within the value that begins a line.
    private(set) var innerColumn: Int?
    /// The value is none of brackets or quotes, and ends where something else comes.
    private(set) var isBare = false
    /// What ends the arrays and objects that are open.
    private var open: [UInt8] = []
    private var isInString = false
    private var isEscaped = false
    /// The last byte outside of strings that is no white space.
    private var last: UInt8 = 0

    private static let depthLimit = 4096

    /// A value begins with the next byte.
    mutating func begin() {
        (innerColumn, isBare, isInString, isEscaped, last) = (nil, false, false, false, 0)
        open.removeAll(keepingCapacity: true)
    }

    /// - Returns: how many bytes are of the value.
    mutating func read(_ piece: UnsafeRawBufferPointer) -> (count: Int, State) {
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
                    // Where a value should begin.
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

    /// - Returns: how many bytes of white space come first.
    mutating func passSpace(_ piece: UnsafeRawBufferPointer) -> Int {
        for (place, byte) in piece.enumerated() {
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return place }
            pass(byte)
        }
        return piece.count
    }

    /// - Returns: how many bytes are left of the line, its line feed included. `column` is nil if there is none.
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
