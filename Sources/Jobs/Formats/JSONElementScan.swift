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
