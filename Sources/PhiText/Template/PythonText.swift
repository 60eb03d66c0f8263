import FoundationShim

/// Python's string operations, by code point or byte, never by grapheme cluster.
enum PythonText {
    /// Whether `str.isspace` and the pattern `\s` match a character.
    static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09...0x0D, 0x1C...0x20, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F,
            0x3000:
            true
        default: false
        }
    }

    static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    enum Side { case both, left, right }

    static func strip(_ text: String, _ characters: String?, _ side: Side) -> String {
        let set = characters.map { Set($0.unicodeScalars) }
        func goes(_ scalar: Unicode.Scalar) -> Bool { set.map { $0.contains(scalar) } ?? isSpace(scalar) }
        var rest = Substring(text).unicodeScalars
        if side != .right {
            while let first = rest.first, goes(first) { rest.removeFirst() }
        }
        if side != .left {
            while let last = rest.last, goes(last) { rest.removeLast() }
        }
        return String(Substring(rest))
    }

    // MARK: Searching

    /// Returns the offsets of `part` (not empty), left to right without overlap, at most `limit`, in linear time.
    static func occurrences(of part: String, in text: String, limit: Int = .max) -> [Int] {
        let automaton = TextAutomaton([Array(part.utf8)])
        var (state, found) = (Int32(0), [Int]())
        for (i, byte) in text.utf8.enumerated() {
            if found.count == limit { break }
            state = automaton.next(state, byte)
            guard automaton.longest[Int(state)] == 0 else { continue }
            found.append(i + 1 - part.utf8.count)
            state = 0
        }
        return found
    }

    static func contains(_ text: String, _ needle: String) -> Bool {
        needle.isEmpty || !occurrences(of: needle, in: text, limit: 1).isEmpty
    }

    /// Returns the pieces between occurrences of `separator` (not empty), with at most `limit` cuts from the left.
    static func split(_ text: String, _ separator: String, limit: Int = .max) -> [String] {
        let (bytes, width) = (Array(text.utf8), separator.utf8.count)
        let cuts = occurrences(of: separator, in: text, limit: limit)
        let starts = [0] + cuts.map { $0 + width }
        return zip(starts, cuts + [bytes.count]).map { String(decoding: bytes[$0..<$1], as: UTF8.self) }
    }

    // MARK: Case

    static func upper(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { $0 += $1.properties.uppercaseMapping }
    }

    static func lower(_ text: String) -> String {
        // Only the Greek sigma depends on its neighbours: it has another form at the end of a word.
        guard text.unicodeScalars.contains(sigma) else {
            return text.unicodeScalars.reduce(into: "") { $0 += $1.properties.lowercaseMapping }
        }
        let scalars = Array(text.unicodeScalars)
        return scalars.indices.reduce(into: "") { $0 += lower(scalars, $1) }
    }

    private static let sigma: Unicode.Scalar = "\u{3A3}"

    private static func lower(_ scalars: [Unicode.Scalar], _ at: Int) -> String {
        scalars[at] == sigma ? lowerSigma(scalars, at) : scalars[at].properties.lowercaseMapping
    }

    private static func lowerSigma(_ scalars: [Unicode.Scalar], _ at: Int) -> String {
        let before = scalars[..<at].last { !$0.properties.isCaseIgnorable }
        let after = scalars[(at + 1)...].first { !$0.properties.isCaseIgnorable }
        let isFinal = before?.properties.isCased == true && after?.properties.isCased != true
        return isFinal ? "\u{3C2}" : "\u{3C3}"
    }

    /// Changes the first code point to title case, the rest to lower case.
    static func capitalize(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        guard let first = scalars.first else { return "" }
        return scalars.indices.dropFirst().reduce(into: first.properties.titlecaseMapping) {
            $0 += lower(scalars, $1)
        }
    }

    /// Returns `str.title`: every run of cased letters is a word.
    static func title(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        var result = ""
        var inWord = false
        for (i, scalar) in scalars.enumerated() {
            result += inWord ? lower(scalars, i) : scalar.properties.titlecaseMapping
            inWord = scalar.properties.isCased
        }
        return result
    }
}
