/// A context-free grammar as written: rules that refer to each other by number.
///
/// The text is llama.cpp's GBNF.
package struct GrammarSource: Sendable {
    struct Rule: Sendable {
        let name: String
        /// The line of the definition.
        let line: Int
        var body: GrammarNode
    }

    var rules: [Rule]
    let start: Int
}

extension GrammarSource {
    /// - Throws: `ConstraintFault` with the line.
    package init(_ text: String) throws(ConstraintFault) {
        guard !Self.isLark(text) else {
            throw ConstraintFault(
                .unusable,
                "Lark's notation is not read; write the grammar in GBNF, as in root ::= \"yes\" | \"no\"")
        }
        self = try GBNFReader.read(text)
    }

    /// Whether the first statement is a rule `name:` or a `%` directive. Lark's comments begin with `#` or `//`.
    private static func isLark(_ text: String) -> Bool {
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.drop { $0.isWhitespace || $0 == "?" || $0 == "!" }
            if words.isEmpty || words.hasPrefix("#") || words.hasPrefix("//") { continue }
            let rest = words.drop { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == "." }
                .drop { $0.isWhitespace }
            return words.hasPrefix("%") || rest.hasPrefix(":") && !rest.hasPrefix("::=")
        }
        return false
    }
}

extension ConstraintFault {
    static func grammar(_ kind: Reason, line: Int, _ problem: String) -> ConstraintFault {
        ConstraintFault(kind, "line \(line): \(problem)")
    }
}
