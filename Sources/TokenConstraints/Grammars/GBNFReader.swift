import Regex

/// Reads llama.cpp's GBNF: rules of literals, sets of characters, groups and repetitions; answers follow the rule
/// `root`. A rule ends with its line, except within parentheses or around a `|`.
struct GBNFReader {
    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "t": "\t", "r": "\r", "n": "\n", "\\": "\\", "\"": "\"", "[": "[", "]": "]", "-": "-",
        "^": "^",
    ]

    private let scalars: [Unicode.Scalar]
    private var place = 0
    /// The line, from 1 on.
    private var line = 1
    private var depth = 0
    private var numbers: [String: Int] = [:]
    /// By number; names may be used before their definition.
    private var rules: [(name: String, firstUse: Int, definition: (line: Int, body: GrammarNode)?)] = []

    private init(_ text: String) throws(ConstraintFault) {
        guard text.utf8.count <= GrammarLimits.textBytes else {
            throw ConstraintFault(.tooLarge, "a grammar of more than \(GrammarLimits.textBytes) bytes")
        }
        scalars = Array(text.unicodeScalars)
    }

    /// - Throws: `ConstraintFault` with the line.
    static func read(_ text: String) throws(ConstraintFault) -> GrammarSource {
        var reader = try GBNFReader(text)
        reader.skip(newLines: true)
        while reader.current != nil {
            try reader.rule()
            reader.skip(newLines: true)
        }
        return try reader.source()
    }

    private func source() throws(ConstraintFault) -> GrammarSource {
        guard let first = numbers["root"] else {
            throw ConstraintFault(.unusable, "the rule root, with which a grammar begins, is missing")
        }
        var all: [GrammarSource.Rule] = []
        for rule in rules {
            guard let (line, body) = rule.definition else {
                throw .grammar(.unusable, line: rule.firstUse, "\(rule.name) is defined nowhere")
            }
            all.append(GrammarSource.Rule(name: rule.name, line: line, body: body))
        }
        return GrammarSource(rules: all, start: first)
    }

    private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && scalar.properties.isAlphabetic || "0"..."9" ~= scalar || scalar == "-"
            || scalar == "_"
    }

    // MARK: Rules

    private mutating func rule() throws(ConstraintFault) {
        let line = line
        let name = take(while: Self.isOfName)
        guard !name.isEmpty else {
            throw unusable("a rule must begin with its name, but there is \(shown)")
        }
        skip(newLines: false)
        guard take("::=") else {
            throw unusable("after the name \(name) must come ::=, but there is \(shown)")
        }
        skip(newLines: true)
        let body = try alternatives(isNested: false)
        switch current {
        case nil, "\n"?: break
        default:
            throw unusable("\(shown) in the rule \(name) is no part of a rule")
        }
        let number = try number(of: name, line: line)
        if let before = rules[number].definition {
            throw .grammar(
                .unusable, line: line, "\(name) is defined here and in line \(before.line); keep one")
        }
        rules[number].definition = (line, body)
    }

    /// Returns the number of the rule with that name.
    private mutating func number(of name: String, line: Int) throws(ConstraintFault) -> Int {
        if let known = numbers[name] { return known }
        guard rules.count < GrammarLimits.rules else {
            throw .grammar(.tooLarge, line: line, "more than \(GrammarLimits.rules) rules")
        }
        numbers[name] = rules.count
        rules.append((name, line, nil))
        return rules.count - 1
    }

    private mutating func alternatives(isNested: Bool) throws(ConstraintFault) -> GrammarNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= GrammarLimits.depth else {
            throw .grammar(.tooLarge, line: line, "more than \(GrammarLimits.depth) groups in groups")
        }
        var all = [try sequence(isNested: isNested)]
        while true {
            // The sign may stand at a line's end, or at the beginning of the next.
            let before = (place, line)
            skip(newLines: true)
            guard take("|") else {
                if !isNested { (place, line) = before }
                return .alternatives(of: all)
            }
            skip(newLines: true)
            all.append(try sequence(isNested: isNested))
        }
    }

    private mutating func sequence(isNested: Bool) throws(ConstraintFault) -> GrammarNode {
        var nodes: [GrammarNode] = []
        skip(newLines: isNested)
        while let part = try part() {
            skip(newLines: isNested)
            nodes.append(try repeated(part, isNested: isNested))
        }
        return .sequence(of: nodes)
    }

    /// - Returns: nil if there is none here.
    private mutating func part() throws(ConstraintFault) -> GrammarNode? {
        let line = line
        switch current {
        case "\""?:
            advance()
            var scalars: [Unicode.Scalar] = []
            while !take("\"") { scalars.append(try scalar("the literal that begins in line \(line)")) }
            return .text(scalars)
        case "["?:
            advance()
            return .regular(.set(try set(line)))
        case "."?:
            advance()
            return .regular(.set(.all))
        case "("?:
            advance()
            let group = try alternatives(isNested: true)
            guard take(")") else {
                throw unusable(
                    "the group that begins in line \(line) has no ')' before \(shown)")
            }
            return group
        case "<"?, "!"?:
            throw unusable(
                "tokens (<name>, <[id]>) are not supported: grammars are of text")
        case let scalar? where Self.isOfName(scalar):
            let name = take(while: Self.isOfName)
            skip(newLines: false)
            guard !starts(with: "::=") else {
                throw unusable("\(name) ::= is within another rule; is a ')' missing before it?")
            }
            return .rule(try number(of: name, line: line))
        default: return nil
        }
    }

    private mutating func repeated(
        _ node: GrammarNode, isNested: Bool
    ) throws(ConstraintFault) -> GrammarNode {
        var node = node
        var signs = 0
        while true {
            signs += 1
            guard signs <= GrammarLimits.depth else {
                let problem = "more than \(GrammarLimits.depth) repetitions of repetitions"
                throw .grammar(.tooLarge, line: line, problem)
            }
            if take("*") {
                node = .repetition(node, min: 0, max: nil)
            } else if take("+") {
                node = .repetition(node, min: 1, max: nil)
            } else if take("?") {
                node = .repetition(node, min: 0, max: 1)
            } else if take("{") {
                let (min, max) = try counts()
                node = .repetition(node, min: min, max: max)
            } else {
                return node
            }
            skip(newLines: isNested)
        }
    }

    // MARK: Characters

    /// Reads on after the opening bracket.
    private mutating func set(_ line: Int) throws(ConstraintFault) -> ScalarSet {
        let what = "the set that begins in line \(line)"
        let isNegated = take("^")
        var ranges: [ClosedRange<UInt32>] = []
        while !take("]") {
            let low = try scalar(what)
            guard current == "-", peek(1) != "]" else {
                ranges.append(low.value...low.value)
                continue
            }
            advance()
            let high = try scalar(what)
            guard low.value <= high.value else {
                throw unusable("a range from '\(low)' down to '\(high)'")
            }
            ranges.append(low.value...high.value)
        }
        let set = isNegated ? ScalarSet(ranges).inverted : ScalarSet(ranges)
        guard !ranges.isEmpty, set.holdsCharacters else {
            throw unusable("\(what) holds no character")
        }
        return set
    }

    /// - Parameter whole: what the character is part of.
    private mutating func scalar(_ whole: String) throws(ConstraintFault) -> Unicode.Scalar {
        let scalar = try next(whole)
        guard scalar == "\\" else { return scalar }
        let kind = try next(whole)
        switch kind {
        case "x": return try hexadecimal(2)
        case "u": return try hexadecimal(4)
        case "U": return try hexadecimal(8)
        default:
            if let scalar = Self.escapes[kind] { return scalar }
            let letters = Self.escapes.keys.sorted().map { "\\\($0)" } + ["\\x", "\\u", "\\U"]
            throw unusable(
                "the escape \\\(kind) is not known; those are \(letters.joined(separator: " "))")
        }
    }

    private mutating func next(_ whole: String) throws(ConstraintFault) -> Unicode.Scalar {
        guard let scalar = current else { throw unusable("\(whole) has no end") }
        advance()
        return scalar
    }

    // MARK: Scanning

    private var current: Unicode.Scalar? { peek(0) }

    private func peek(_ distance: Int) -> Unicode.Scalar? {
        place + distance < scalars.count ? scalars[place + distance] : nil
    }

    private mutating func advance() {
        if current == "\n" { line += 1 }
        place += 1
    }

    private func starts(with text: String) -> Bool {
        let wanted = text.unicodeScalars
        return place + wanted.count <= scalars.count && scalars[place...].starts(with: wanted)
    }

    private mutating func take(_ text: String) -> Bool {
        guard starts(with: text) else { return false }
        for _ in text.unicodeScalars { advance() }
        return true
    }

    private mutating func take(while isTaken: (Unicode.Scalar) -> Bool) -> String {
        var taken = String.UnicodeScalarView()
        while let scalar = current, isTaken(scalar) {
            taken.append(scalar)
            advance()
        }
        return String(taken)
    }

    private func unusable(_ problem: String) -> ConstraintFault { .grammar(.unusable, line: line, problem) }

    /// The text at the position, for messages.
    private var shown: String {
        switch current {
        case nil: "the end"
        case "\n"?, "\r"?: "the end of the line"
        case let scalar?: "'\(scalar)'"
        }
    }

    /// Skips spaces and comments.
    private mutating func skip(newLines: Bool) {
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
    private mutating func counts() throws(ConstraintFault) -> (min: Int, max: Int?) {
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

extension ScalarSet {
    /// Whether it has a character; surrogates are none.
    fileprivate var holdsCharacters: Bool {
        ranges.contains { $0.lowerBound < 0xD800 || $0.upperBound > 0xDFFF }
    }
}
