import Regex

/// Reads llama.cpp's GBNF: rules of literals, sets of characters, groups and repetitions; answers follow the rule
/// `root`. A rule ends with its line, except within parentheses or around a `|`.
struct GBNFReader {
    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "t": "\t", "r": "\r", "n": "\n", "\\": "\\", "\"": "\"", "[": "[", "]": "]", "-": "-",
        "^": "^",
    ]

    private var cursor: GrammarCursor
    private var table = RuleTable()
    private var depth = 0

    private init(_ text: String) throws(ConstraintFault) { cursor = try GrammarCursor(text) }

    /// - Throws: `ConstraintFault` with the line.
    static func read(_ text: String) throws(ConstraintFault) -> GrammarSource {
        var reader = try GBNFReader(text)
        reader.skip(newLines: true)
        while reader.cursor.current != nil {
            try reader.rule()
            reader.skip(newLines: true)
        }
        return try reader.table.source(start: "root")
    }

    private mutating func skip(newLines: Bool) { cursor.skipSpace(newLines: newLines) }

    private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && scalar.properties.isAlphabetic || "0"..."9" ~= scalar || scalar == "-"
            || scalar == "_"
    }

    // MARK: Rules

    private mutating func rule() throws(ConstraintFault) {
        let line = cursor.line
        let name = cursor.take(while: Self.isOfName)
        guard !name.isEmpty else {
            throw cursor.unusable("a rule must begin with its name, but there is \(cursor.shown)")
        }
        skip(newLines: false)
        guard cursor.take("::=") else {
            throw cursor.unusable("after the name \(name) must come ::=, but there is \(cursor.shown)")
        }
        skip(newLines: true)
        let body = try alternatives(isNested: false)
        switch cursor.current {
        case nil, "\n"?: break
        default:
            throw cursor.unusable("\(cursor.shown) in the rule \(name) is no part of a rule")
        }
        try table.define(name, line: line, body)
    }

    private mutating func alternatives(isNested: Bool) throws(ConstraintFault) -> GrammarNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= GrammarLimits.depth else {
            throw .grammar(.tooLarge, line: cursor.line, "more than \(GrammarLimits.depth) groups in groups")
        }
        var all = [try sequence(isNested: isNested)]
        while true {
            // The sign may stand at a line's end, or at the beginning of the next.
            let before = cursor
            skip(newLines: true)
            guard cursor.take("|") else {
                if !isNested { cursor = before }
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
        let line = cursor.line
        switch cursor.current {
        case "\""?:
            cursor.advance()
            var scalars: [Unicode.Scalar] = []
            while !cursor.take("\"") { scalars.append(try scalar("the literal that begins in line \(line)")) }
            return .text(scalars)
        case "["?:
            cursor.advance()
            return .regular(.set(try set(line)))
        case "."?:
            cursor.advance()
            return .regular(.set(.all))
        case "("?:
            cursor.advance()
            let group = try alternatives(isNested: true)
            guard cursor.take(")") else {
                throw cursor.unusable(
                    "the group that begins in line \(line) has no ')' before \(cursor.shown)")
            }
            return group
        case "<"?, "!"?:
            throw cursor.unusable(
                "tokens (<name>, <[id]>) are not supported: grammars are of text")
        case let scalar? where Self.isOfName(scalar):
            let name = cursor.take(while: Self.isOfName)
            skip(newLines: false)
            guard !cursor.starts(with: "::=") else {
                throw cursor.unusable("\(name) ::= is within another rule; is a ')' missing before it?")
            }
            return .rule(try table.number(of: name, line: line))
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
                throw .grammar(.tooLarge, line: cursor.line, problem)
            }
            if cursor.take("*") {
                node = .repetition(node, min: 0, max: nil)
            } else if cursor.take("+") {
                node = .repetition(node, min: 1, max: nil)
            } else if cursor.take("?") {
                node = .repetition(node, min: 0, max: 1)
            } else if cursor.take("{") {
                let (min, max) = try cursor.counts()
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
        let isNegated = cursor.take("^")
        var ranges: [ClosedRange<UInt32>] = []
        while !cursor.take("]") {
            let low = try scalar(what)
            guard cursor.current == "-", cursor.peek(1) != "]" else {
                ranges.append(low.value...low.value)
                continue
            }
            cursor.advance()
            let high = try scalar(what)
            guard low.value <= high.value else {
                throw cursor.unusable("a range from '\(low)' down to '\(high)'")
            }
            ranges.append(low.value...high.value)
        }
        let set = isNegated ? ScalarSet(ranges).inverted : ScalarSet(ranges)
        guard !ranges.isEmpty, set.holdsCharacters else {
            throw cursor.unusable("\(what) holds no character")
        }
        return set
    }

    /// - Parameter whole: what the character is part of.
    private mutating func scalar(_ whole: String) throws(ConstraintFault) -> Unicode.Scalar {
        guard let scalar = cursor.current else { throw cursor.unusable("\(whole) has no end") }
        cursor.advance()
        return scalar == "\\" ? try cursor.escaped(Self.escapes, end: "\(whole) has no end") : scalar
    }
}

extension ScalarSet {
    /// Whether it has a character; surrogates are none.
    fileprivate var holdsCharacters: Bool {
        ranges.contains { $0.lowerBound < 0xD800 || $0.upperBound > 0xDFFF }
    }
}
