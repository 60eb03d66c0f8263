import Regex

/// Builds the tree of a `ScalarAlphabet`.
struct AlphabetBuilder {
    private struct Uniform: Hashable {
        let classIndex: UInt16
        let level: Int
    }

    static let oneClass = try? ScalarClassifier([])

    let classifier: ScalarClassifier
    private(set) var wide: [[Int32]]
    private(set) var narrow: [[Int32]] = []
    private var uniform: [Uniform: Int32] = [:]
    private var known: [[Int32]: Int32] = [:]
    // The run of scalars of the last block; blocks come in order.
    private var run = 0

    init(_ classifier: ScalarClassifier, wideCount: Int) {
        self.classifier = classifier
        wide = [[Int32]](repeating: [Int32](repeating: -1, count: 256), count: wideCount)
    }

    private func leaf(_ scalar: UInt32) -> Int32 { -2 - Int32(classifier.classIndex(of: scalar)) }

    // MARK: ASCII and escapes

    /// - Parameter escaped: whether as in JSON strings, each in one way.
    mutating func addASCII(escaped: Bool) {
        for byte in UInt8.min..<0x80 {
            guard escaped, let escape = JSONSpelling.escape(byte) else {
                wide[0][Int(byte)] = leaf(UInt32(byte))
                continue
            }
            // The nodes after \ \u \u0 \u00 \u000 \u001
            let path = escape.count == 2 ? [1] : [1, 2, 3, 4, escape[4] == 0x30 ? 5 : 6]
            var node = 0
            for (step, next) in zip(escape, path) {
                wide[node][Int(step)] = Int32(next)
                node = next
            }
            wide[node][Int(escape[escape.count - 1])] = leaf(UInt32(byte))
        }
    }

    /// Adds ASCII and all escapes, if there is only one class.
    mutating func addAllEscapes() {
        func set(_ node: Int, _ bytes: String, _ entry: Int32) {
            for byte in bytes.utf8 { wide[node][Int(byte)] = entry }
        }
        let hex = "0123456789abcdefABCDEF"
        for byte in 0x20..<0x80 where byte != 0x22 && byte != 0x5C { wide[0][byte] = -2 }
        set(0, "\\", 1)
        set(1, "\"\\/bfnrt", -2)
        set(1, "u", 2)
        // A node leads only to later ones. 10, 11, 12: three, two and one digit are missing.
        set(2, hex, 10)
        set(2, "dD", 3)
        // \ud: a scalar, or the first half of a pair, which needs the second one.
        set(3, "01234567", 11)
        set(3, "89abAB", 4)
        set(4, hex, 5)
        set(5, hex, 6)
        set(6, "\\", 7)
        set(7, "u", 8)
        set(8, "dD", 9)
        set(9, "cdefCDEF", 11)
        set(10, hex, 11)
        set(11, hex, 12)
        set(12, hex, -2)
    }

    // MARK: UTF-8

    mutating func addUTF8() {
        for lead in 0xC2...0xDF { wide[0][lead] = block(UInt32(lead & 0x1F) << 6, 1) }
        for lead in 0xE0...0xEF {
            let start = UInt32(lead & 0x0F) << 12
            switch lead {
            case 0xE0: wide[0][lead] = node(start, 1, valid: 32..<64)
            // No surrogates.
            case 0xED: wide[0][lead] = node(start, 1, valid: 0..<32)
            default: wide[0][lead] = block(start, 2)
            }
        }
        for lead in 0xF0...0xF4 {
            let start = UInt32(lead & 0x07) << 18
            switch lead {
            case 0xF0: wide[0][lead] = node(start, 2, valid: 16..<64)
            case 0xF4: wide[0][lead] = node(start, 2, valid: 0..<16)
            default: wide[0][lead] = block(start, 3)
            }
        }
    }

    /// Returns the entry that leads to the 64^level scalars from `start` on.
    private mutating func block(_ start: UInt32, _ level: Int) -> Int32 {
        let starts = classifier.starts
        while run + 1 < starts.count, starts[run + 1] <= start { run += 1 }
        let classIndex = classifier.classes[run]
        guard level > 0 else { return -2 - Int32(classIndex) }
        guard run + 1 == starts.count || starts[run + 1] >= start + 1 << (6 * UInt32(level)) else {
            return node(start, level - 1, valid: 0..<64)
        }
        return uniform(classIndex, level)
    }

    private mutating func node(_ start: UInt32, _ level: Int, valid: Range<Int>) -> Int32 {
        var entries = [Int32](repeating: -1, count: 64)
        for i in valid { entries[i] = block(start + UInt32(i) << (6 * UInt32(level)), level) }
        return add(entries)
    }

    private mutating func uniform(_ classIndex: UInt16, _ level: Int) -> Int32 {
        guard level > 0 else { return -2 - Int32(classIndex) }
        let key = Uniform(classIndex: classIndex, level: level)
        if let node = uniform[key] { return node }
        let inner = uniform(classIndex, level - 1)
        let node = add([Int32](repeating: inner, count: 64))
        uniform[key] = node
        return node
    }

    private mutating func add(_ entries: [Int32]) -> Int32 {
        if let node = known[entries] { return node }
        let node = Int32(wide.count + narrow.count)
        narrow.append(entries)
        known[entries] = node
        return node
    }
}
