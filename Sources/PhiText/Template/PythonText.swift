/// Python's string operations, by code point and by byte, never by grapheme cluster.
enum PythonText {
    /// Characters that `str.isspace` and the pattern `\s` take as white space.
    static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09...0x0D, 0x1C...0x20, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F,
            0x3000:
            true
        default: false
        }
    }

    static func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x1C...0x1E, 0x85, 0x2028, 0x2029: true
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

    /// The offsets where `needle` occurs in `text`, left to right without overlap, at most `limit`.
    /// Linear whatever the texts are (Knuth-Morris-Pratt). An empty needle is the caller's business.
    static func occurrences<Unit: Equatable>(
        of needle: [Unit], in text: [Unit], limit: Int = .max
    ) -> [Int] {
        guard !needle.isEmpty, needle.count <= text.count, limit > 0 else { return [] }
        var fallback = [Int](repeating: 0, count: needle.count)
        var matched = 0
        for i in needle.indices.dropFirst() {
            while matched > 0, needle[i] != needle[matched] { matched = fallback[matched - 1] }
            if needle[i] == needle[matched] { matched += 1 }
            fallback[i] = matched
        }
        var found: [Int] = []
        matched = 0
        for i in text.indices {
            while matched > 0, text[i] != needle[matched] { matched = fallback[matched - 1] }
            if text[i] == needle[matched] { matched += 1 }
            if matched == needle.count {
                found.append(i + 1 - needle.count)
                if found.count == limit { break }
                matched = 0
            }
        }
        return found
    }

    static func contains(_ text: String, _ needle: String) -> Bool {
        needle.isEmpty || !occurrences(of: Array(needle.utf8), in: Array(text.utf8), limit: 1).isEmpty
    }

    /// The pieces between occurrences of `separator` (not empty), with at most `limit` cuts from the left.
    static func split(_ text: String, _ separator: String, limit: Int = .max) -> [String] {
        let (bytes, width) = (Array(text.utf8), separator.utf8.count)
        let cuts = occurrences(of: Array(separator.utf8), in: bytes, limit: limit)
        let starts = [0] + cuts.map { $0 + width }
        return zip(starts, cuts + [bytes.count]).map { String(decoding: bytes[$0..<$1], as: UTF8.self) }
    }

    static func splitLines(_ text: String) -> [String] {
        var lines: [String] = []
        var rest = Substring(text).unicodeScalars
        while !rest.isEmpty {
            let line = rest.prefix { !isLineBreak($0) }
            var after = line.endIndex
            if after < rest.endIndex {
                let isReturn = rest[after] == "\r"
                after = rest.index(after: after)
                if isReturn, after < rest.endIndex, rest[after] == "\n" { after = rest.index(after: after) }
            }
            lines.append(String(Substring(line)))
            rest = rest[after...]
        }
        return lines
    }

    // MARK: Case

    static func upper(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { $0 += $1.properties.uppercaseMapping }
    }

    static func lower(_ text: String) -> String {
        // Only the Greek sigma needs its neighbours: at the end of a word it has another form.
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

    /// First code point in title case, the rest in lower case.
    static func capitalize(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        guard let first = scalars.first else { return "" }
        return scalars.indices.dropFirst().reduce(into: first.properties.titlecaseMapping) {
            $0 += lower(scalars, $1)
        }
    }

    /// `str.title`: every run of cased letters is a word.
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

    /// Jinja's `title` filter: words begin after white space and opening brackets.
    static func titleFilter(_ text: String) -> String {
        func cuts(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar {
            case "-", "(", "{", "[", "<": true
            default: isSpace(scalar)
            }
        }
        var result = ""
        var rest = Substring(text).unicodeScalars
        while let first = rest.first {
            let isCut = cuts(first)
            let run = rest.prefix { cuts($0) == isCut }
            if isCut {
                result += String(Substring(run))
            } else {
                result += first.properties.uppercaseMapping + lower(String(run.dropFirst()))
            }
            rest = rest[run.endIndex...]
        }
        return result
    }
}
