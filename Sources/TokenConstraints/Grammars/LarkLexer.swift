import JSONSchema

/// A piece of a grammar in Lark's notation.
enum LarkToken: Equatable {
    /// A name in lower case.
    case rule(String)
    /// A name in upper case.
    case terminal(String)
    case text([Unicode.Scalar], ignoresCase: Bool)
    case regex(RegexNode)
    case number(Int)
    /// `%ignore` and its kin, without the sign.
    case directive(String)
    /// `: | ( ) [ ] { } ? ! * + ~ , . .. ->`
    case sign(String)
    case newLine
    case end
}

/// Takes the text of a Lark grammar apart.
struct LarkLexer {
    struct Piece {
        let token: LarkToken
        let line: Int
    }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "t": "\t", "r": "\r", "n": "\n", "f": "\u{0C}", "v": "\u{0B}", "b": "\u{08}", "\\": "\\", "\"": "\"",
        "'": "'",
        "/": "/",
    ]
    private static let signs = [
        "->", "..", ":", "|", "(", ")", "[", "]", "{", "}", "?", "!", "*", "+", "~", ",", ".",
    ]

    private var cursor: GrammarCursor

    /// - Returns: the pieces, an end after them.
    /// - Throws: `ConstraintFault` that names the line.
    static func pieces(of text: String) throws(ConstraintFault) -> [Piece] {
        var lexer = LarkLexer(cursor: try GrammarCursor(text))
        var pieces: [Piece] = []
        repeat {
            lexer.cursor.skipSpace(newLines: false, comments: ["//", "#"])
            let line = lexer.cursor.line
            pieces.append(Piece(token: try lexer.token(), line: line))
        } while pieces.last?.token != .end
        return pieces
    }

    private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && scalar.properties.isAlphabetic || "0"..."9" ~= scalar || scalar == "_"
    }

    private mutating func token() throws(ConstraintFault) -> LarkToken {
        guard let scalar = cursor.current else { return .end }
        switch scalar {
        case "\n":
            cursor.advance()
            return .newLine
        case "\"": return try text()
        case "/": return .regex(try regex())
        case "%":
            cursor.advance()
            return .directive(cursor.take(while: Self.isOfName))
        case "0"..."9": return .number(try cursor.number() ?? 0)
        case "<", "@":
            throw cursor.unusable(
                "tokens (<name>) and other grammars (@name) can't be asked for: answers are text, whatever its tokens are"
            )
        case "&": throw cursor.unusable("& between terminals is not known here")
        case _ where Self.isOfName(scalar): return name()
        default:
            if let sign = Self.signs.first(where: { cursor.starts(with: $0) }) {
                _ = cursor.take(sign)
                return .sign(sign)
            }
            throw cursor.unusable("\(cursor.shown) means nothing in a grammar")
        }
    }

    private mutating func name() -> LarkToken {
        var name = cursor.take(while: Self.isOfName)
        while cursor.current == "-", let next = cursor.peek(1), Self.isOfName(next) {
            cursor.advance()
            name += "-" + cursor.take(while: Self.isOfName)
        }
        let first = name.unicodeScalars.first { $0 != "_" }
        return first.map { "A"..."Z" ~= $0 } ?? false ? .terminal(name) : .rule(name)
    }

    private mutating func text() throws(ConstraintFault) -> LarkToken {
        cursor.advance()
        var scalars: [Unicode.Scalar] = []
        while !cursor.take("\"") {
            guard let scalar = cursor.current, scalar != "\n" else {
                throw cursor.unusable("a text without its end quote")
            }
            cursor.advance()
            scalars.append(
                scalar == "\\"
                    ? try cursor.escaped(Self.escapes, end: "a text without its end quote") : scalar)
        }
        let ignoresCase = cursor.take("i")
        if let next = cursor.current, Self.isOfName(next) {
            throw cursor.unusable("after a text may stand i, but there is \(cursor.shown)")
        }
        return .text(scalars, ignoresCase: ignoresCase)
    }

    /// ECMA-262's syntax between slashes, as in all other regular expressions here; `.` is any character but a line feed.
    private mutating func regex() throws(ConstraintFault) -> RegexNode {
        cursor.advance()
        var pattern = ""
        while !cursor.take("/") {
            guard let scalar = cursor.current, scalar != "\n" else {
                throw cursor.unusable("a regular expression without the slash at its end")
            }
            cursor.advance()
            pattern.unicodeScalars.append(scalar)
            if scalar == "\\", let next = cursor.current, next != "\n" {
                cursor.advance()
                pattern.unicodeScalars.append(next)
            }
        }
        let flags = cursor.take { $0.isASCII && $0.properties.isAlphabetic }
        if let flag = flags.first(where: { !"isu".contains($0) }) {
            throw cursor.unusable(
                "the flag \(flag) of a regular expression is not known; those are i, s and u")
        }
        let node: RegexNode
        do throws(RegexFault) {
            node = try RegexParser.parse(
                pattern, dot: flags.contains("s") ? .all : ScalarRanges.one(0x0A).inverted)
        } catch {
            throw .grammar(
                error.kind == .tooLarge ? .tooLarge : .unusable, line: cursor.line,
                "the regular expression /\(pattern)/ has \(error)")
        }
        guard node.isFreeOfAssertions else {
            throw cursor.unusable(
                "^, $, \\b and \\B say nothing within a grammar: /\(pattern)/ must match all of its part")
        }
        guard node.isWritable else { throw cursor.unusable("/\(pattern)/ has a set that holds no character") }
        return flags.contains("i") ? node.ignoringCase : node
    }
}
