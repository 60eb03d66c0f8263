/// Finds the ends of successive JSON values, in bytes of arbitrary pieces, by brackets and quotes. Doesn't validate the
/// values.
package struct JSONSplitter {
    /// Line of the next byte, from 1.
    package private(set) var line = 1
    /// Whether the last byte ended the value, or the next one can't belong to it.
    package private(set) var hasEnded = false
    /// Reason why the value's end is unknown; nil if there is none.
    package private(set) var fault: String?
    /// Whether the value has neither brackets nor quotes, and so ends before any of them.
    package private(set) var isBare = false
    /// Ends of the open arrays and objects.
    private var open: [UInt8] = []
    private var isInString = false
    private var isEscaped = false
    /// The last byte outside strings, except white space.
    private var last: UInt8 = 0

    private static let depthLimit = 4096

    package init() {}

    /// Begins a value with the next byte.
    package mutating func begin() {
        (hasEnded, fault, isBare, isInString, isEscaped, last) = (false, nil, false, false, false, 0)
        open.removeAll(keepingCapacity: true)
    }

    /// - Returns: number of bytes that belong to the value.
    package mutating func read(_ piece: UnsafeRawBufferPointer) -> Int {
        var place = 0
        while place < piece.count {
            let byte = piece[place]
            if isInString {
                if byte == 0x0A { return end(place, "a line feed within a string") }
                place += 1
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    (isInString, last) = (false, byte)
                    if open.isEmpty { return end(place) }
                }
                continue
            }
            switch byte {
            case 0x20, 0x09, 0x0D, 0x0A:
                if isBare { return end(place) }
                if byte == 0x0A { line += 1 }
                place += 1
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if isBare { return end(place) }
                if let whyNotOpen { return end(place, whyNotOpen) }
                // "}" is two after "{" in ASCII, and so are the others.
                open.append(byte + 2)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if isBare { return end(place) }
                // In place of a value.
                guard let closing = open.popLast() else { return end(place + 1) }
                guard closing == byte else {
                    return end(
                        place, "\(Unicode.Scalar(byte)) where \(Unicode.Scalar(closing)) should be")
                }
                if open.isEmpty { return end(place + 1) }
            case UInt8(ascii: "\"") where !isBare: isInString = true
            case UInt8(ascii: ","):
                if isBare { return end(place) }
            default: if open.isEmpty { isBare = true }
            }
            last = byte
            place += 1
        }
        return place
    }

    private mutating func end(_ place: Int, _ fault: String? = nil) -> Int {
        (hasEnded, self.fault) = (true, fault)
        return place
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
    package mutating func passSpace(_ piece: UnsafeRawBufferPointer) -> Int {
        for (place, byte) in piece.enumerated() {
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return place }
            if byte == 0x0A { line += 1 }
        }
        return piece.count
    }
}
