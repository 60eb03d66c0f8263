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

    init(rules: [Rule], start: Int) {
        self.rules = rules
        self.start = start
    }

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

/// The rules of a grammar while it is read: names may be used before their definition.
struct RuleTable {
    private var numbers: [String: Int] = [:]
    private var rules: [(name: String, firstUse: Int, definition: (line: Int, body: GrammarNode)?)] = []

    /// - Returns: the number of the rule with that name.
    mutating func number(of name: String, line: Int) throws(ConstraintFault) -> Int {
        if let known = numbers[name] { return known }
        guard rules.count < GrammarLimits.rules else {
            throw .grammar(.tooLarge, line: line, "more than \(GrammarLimits.rules) rules")
        }
        numbers[name] = rules.count
        rules.append((name, line, nil))
        return rules.count - 1
    }

    mutating func define(_ name: String, line: Int, _ body: GrammarNode) throws(ConstraintFault) {
        let number = try number(of: name, line: line)
        if let before = rules[number].definition {
            throw .grammar(
                .unusable, line: line, "\(name) is defined here and in line \(before.line); keep one")
        }
        rules[number].definition = (line, body)
    }

    /// - Throws: `ConstraintFault` if a name without a definition is used.
    func source(start: String) throws(ConstraintFault) -> GrammarSource {
        guard let first = numbers[start] else {
            throw ConstraintFault(.unusable, "the rule \(start), with which a grammar begins, is missing")
        }
        var all: [GrammarSource.Rule] = []
        for rule in rules {
            guard let definition = rule.definition else {
                throw .grammar(.unusable, line: rule.firstUse, "\(rule.name) is defined nowhere")
            }
            all.append(GrammarSource.Rule(name: rule.name, line: definition.line, body: definition.body))
        }
        return GrammarSource(rules: all, start: first)
    }
}

extension ConstraintFault {
    static func grammar(_ kind: Reason, line: Int, _ problem: String) -> ConstraintFault {
        ConstraintFault(kind, "line \(line): \(problem)")
    }
}
