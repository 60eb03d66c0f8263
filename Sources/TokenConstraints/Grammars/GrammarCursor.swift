/// A position in the text of a grammar.
struct GrammarCursor {
    private let scalars: [Unicode.Scalar]
    private var place = 0
    /// The line, from 1 on.
    private(set) var line = 1

    init(_ text: String) throws(ConstraintFault) {
        guard text.utf8.count <= GrammarLimits.textBytes else {
            throw ConstraintFault(.tooLarge, "a grammar of more than \(GrammarLimits.textBytes) bytes")
        }
        scalars = Array(text.unicodeScalars)
    }

    var current: Unicode.Scalar? { peek(0) }

    func peek(_ distance: Int) -> Unicode.Scalar? {
        place + distance < scalars.count ? scalars[place + distance] : nil
    }

    mutating func advance() {
        if current == "\n" { line += 1 }
        place += 1
    }

    func starts(with text: String) -> Bool {
        let wanted = text.unicodeScalars
        return place + wanted.count <= scalars.count && scalars[place...].starts(with: wanted)
    }

    mutating func take(_ text: String) -> Bool {
        guard starts(with: text) else { return false }
        for _ in text.unicodeScalars { advance() }
        return true
    }

    mutating func take(while isTaken: (Unicode.Scalar) -> Bool) -> String {
        var taken = String.UnicodeScalarView()
        while let scalar = current, isTaken(scalar) {
            taken.append(scalar)
            advance()
        }
        return String(taken)
    }

    // MARK: Errors

    func unusable(_ problem: String) -> ConstraintFault { .grammar(.unusable, line: line, problem) }

    /// The text at the position, for messages.
    var shown: String {
        switch current {
        case nil: "the end"
        case "\n"?, "\r"?: "the end of the line"
        case let scalar?: "'\(scalar)'"
        }
    }

    // MARK: Parts

    /// Skips spaces and comments.
    mutating func skipSpace(newLines: Bool) {
        while let scalar = current {
            if scalar == "#" {
                while let next = current, next != "\n" { advance() }
            } else if scalar == " " || scalar == "\t" || scalar == "\r" || newLines && scalar == "\n" {
                advance()
            } else {
                return
            }
        }
    }

    /// - Returns: nil if no digit is here.
    private mutating func number() throws(ConstraintFault) -> Int? {
        let digits = take { "0"..."9" ~= $0 }
        guard !digits.isEmpty else { return nil }
        guard let number = Int(digits), number <= GrammarLimits.count else {
            throw .grammar(.tooLarge, line: line, "a count above \(GrammarLimits.count)")
        }
        return number
    }

    /// Reads counts between braces, after the first of them: `2}`, `2,}` or `2,5}`.
    mutating func counts() throws(ConstraintFault) -> (min: Int, max: Int?) {
        skipSpaces()
        guard let low = try number() else {
            throw unusable("a count such as {2}, {2,} or {2,5} is meant, but there is \(shown)")
        }
        skipSpaces()
        var high: Int? = low
        if take(",") {
            skipSpaces()
            high = try number()
            skipSpaces()
        }
        guard take("}") else { throw unusable("a '}' must end the count, but there is \(shown)") }
        if let high, high < low { throw unusable("a count from \(low) down to \(high)") }
        return (low, high)
    }

    private mutating func skipSpaces() { _ = take { $0 == " " || $0 == "\t" || $0 == "\r" } }

    /// Reads the character after a backslash, by its letter or its number.
    /// - Parameters:
    ///   - known: characters by their letters.
    ///   - end: the error if nothing follows.
    mutating func escaped(
        _ known: [Unicode.Scalar: Unicode.Scalar], end: String
    ) throws(ConstraintFault) -> Unicode.Scalar {
        guard let kind = current else { throw unusable(end) }
        advance()
        switch kind {
        case "x": return try hexadecimal(2)
        case "u": return try hexadecimal(4)
        case "U": return try hexadecimal(8)
        default:
            if let scalar = known[kind] { return scalar }
            let letters = known.keys.sorted().map { "\\\($0)" } + ["\\x", "\\u", "\\U"]
            throw unusable(
                "the escape \\\(kind) is not known; those are \(letters.joined(separator: " "))")
        }
    }

    /// Reads a character of so many hexadecimal digits.
    private mutating func hexadecimal(_ digits: Int) throws(ConstraintFault) -> Unicode.Scalar {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let digit = current, digit.isASCII, let number = Character(digit).hexDigitValue else {
                throw unusable("\(digits) hexadecimal digits must follow, but there is \(shown)")
            }
            value = value << 4 | UInt32(number)
            advance()
        }
        guard let scalar = Unicode.Scalar(value) else {
            throw unusable("\(String(value, radix: 16)) is the number of no character")
        }
        return scalar
    }
}
