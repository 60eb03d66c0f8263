extension RegexParser {
    // MARK: Escapes

    private static let controls: [Unicode.Scalar: UInt32] = ["t": 9, "n": 10, "v": 11, "f": 12, "r": 13]

    /// Parses an escape outside a class, from its backslash on.
    mutating func escape() throws(ConstraintFault) -> RegexNode {
        let start = i
        switch peek(1) {
        case "b" where dialect == .ecma, "B" where dialect == .ecma:
            i += 2
            return .assertion(.wordBoundary(peek(-1) == "b"))
        case let kind? where "1"..."9" ~= kind || kind == "k":
            guard takesAll else { throw unsupported("a back reference, which is not regular,", at: start) }
            i += 2
            if kind == "k" {
                let isNamed = take("<")
                skip { $0 != ">" }
                guard isNamed, take(">") else { throw malformed("a '\\k' without a name", at: start) }
            } else {
                skip { "0"..."9" ~= $0 }
            }
            return .empty
        default: return .set(try folded(try setEscape()))
        }
    }

    /// Parses an escape for a set, inside or outside a class.
    private mutating func setEscape() throws(ConstraintFault) -> ScalarSet {
        let start = i
        i += 1
        guard let scalar = current else { throw malformed("a backslash at the end", at: start) }
        i += 1
        if dialect == .tokenizer, "wW0c".unicodeScalars.contains(scalar) {
            throw unsupported("the escape '\\\(scalar)'", at: start)
        }
        if let control = Self.controls[scalar] { return .one(control) }
        switch scalar {
        case "d", "D":
            let set = dialect == .ecma ? .digit : UnicodeProperties.ranges("Nd") ?? .digit
            return scalar == "D" ? set.inverted : set
        case "w": return .word
        case "W": return ScalarSet.word.inverted
        case "s", "S":
            let set = dialect == .ecma ? ScalarSet.space : .whiteSpace
            return scalar == "S" ? set.inverted : set
        case "p", "P":
            let set = try property(start)
            return scalar == "P" ? set.inverted : set
        case "0":
            if let digit = current, "0"..."9" ~= digit { throw malformed("an octal escape", at: start) }
            return .one(0)
        case "c":
            guard let letter = current, letter.isASCII, letter.properties.isAlphabetic else {
                throw malformed("a '\\c' without a letter", at: start)
            }
            i += 1
            return .one(letter.value & 31)
        case "x":
            let value = try hexadecimal(2, start)
            // In Oniguruma \x80 and above are raw bytes.
            guard dialect == .ecma || value < 0x80 else {
                throw unsupported("a byte beyond ASCII", at: start)
            }
            return .one(value)
        case "u" where dialect == .tokenizer:
            let value = try hexadecimal(4, start)
            guard Unicode.Scalar(value) != nil else { throw unsupported("a surrogate", at: start) }
            return .one(value)
        case "u": return .one(try unicode(start))
        default:
            // Strictly, only special characters may be escaped; many patterns escape others as well.
            guard !scalar.properties.isAlphabetic, !("0"..."9" ~= scalar) else {
                throw malformed("'\\\(scalar)', which is no escape,", at: start)
            }
            return .one(scalar.value)
        }
    }

    private mutating func property(_ start: Int) throws(ConstraintFault) -> ScalarSet {
        guard take("{") else { throw malformed("a '\\p' without '{'", at: start) }
        let isInverted = dialect == .tokenizer && take("^")
        var name = ""
        while let scalar = current, scalar != "}", name.utf8.count < 64 {
            name.unicodeScalars.append(scalar)
            i += 1
        }
        guard take("}") else { throw malformed("a '\\p' without '}'", at: start) }
        // Oniguruma and Rust differ in the meaning of some longer names.
        guard dialect == .ecma || name.utf8.count <= 2, let set = UnicodeProperties.ranges(name) else {
            throw unsupported("the Unicode property '\(name)', which is not known,", at: start)
        }
        return isInverted ? set.inverted : set
    }

    private mutating func hexadecimal(_ digits: Int, _ start: Int) throws(ConstraintFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let digit = hexadecimalDigit() else {
                throw malformed("an escape without \(digits) hexadecimal digits", at: start)
            }
            value = value << 4 | digit
        }
        return value
    }

    private mutating func hexadecimalDigit() -> UInt32? {
        guard let scalar = current, scalar.isASCII, let digit = Character(scalar).hexDigitValue else {
            return nil
        }
        i += 1
        return UInt32(digit)
    }

    /// Parses `\uHHHH`, a pair of those for a scalar beyond U+FFFF, or `\u{H...}`, after the `u`.
    private mutating func unicode(_ start: Int) throws(ConstraintFault) -> UInt32 {
        if take("{") {
            var value: UInt32 = 0
            var count = 0
            while let digit = hexadecimalDigit() {
                count += 1
                value = value << 4 | digit
                guard value <= ScalarSet.lastScalar else { break }
            }
            guard count > 0, value <= ScalarSet.lastScalar, take("}") else {
                throw malformed("a '\\u{...}' that is no code point", at: start)
            }
            return value
        }
        let high = try hexadecimal(4, start)
        let after = i
        if 0xD800..<0xDC00 ~= high, take("\\u"), current != "{" {
            let low = try hexadecimal(4, start)
            if 0xDC00..<0xE000 ~= low { return 0x10000 + (high - 0xD800) << 10 + (low - 0xDC00) }
        }
        i = after
        return high
    }

    // MARK: Classes

    mutating func characterClass() throws(ConstraintFault) -> ScalarSet {
        let start = i
        i += 1
        let isNegated = take("^")
        if dialect == .tokenizer, current == "]" { throw unsupported("an empty class", at: start) }
        var ranges: [ClosedRange<UInt32>] = []
        while !take("]") {
            let itemStart = i
            let item = try classItem(start)
            guard current == "-", let next = peek(1), next != "]" else {
                ranges += item.ranges
                continue
            }
            i += 1
            let end = try classItem(start)
            if let low = item.single, let high = end.single {
                guard low <= high else {
                    throw malformed("a range of characters that goes down", at: itemStart)
                }
                ranges.append(low...high)
            } else if dialect == .tokenizer {
                throw unsupported("a range of sets", at: itemStart)
            } else {
                // As in annex B: beside a set, the hyphen is literal.
                ranges += item.ranges + end.ranges + [0x2D...0x2D]
            }
        }
        let set = try folded(ScalarSet(ranges))
        return isNegated ? set.inverted : set
    }

    private mutating func classItem(_ start: Int) throws(ConstraintFault) -> ScalarSet {
        guard let scalar = current else { throw malformed("a class without ']'", at: start) }
        guard scalar == "\\" else {
            if dialect == .tokenizer, scalar == "[" || scalar == "&" && peek(1) == "&" {
                throw unsupported("a class in a class")
            }
            i += 1
            return .one(scalar.value)
        }
        if peek(1) == "b", dialect == .ecma {
            i += 2
            return .one(0x08)
        }
        return try setEscape()
    }
}
