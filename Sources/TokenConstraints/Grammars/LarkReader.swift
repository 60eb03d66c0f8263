import JSONSchema

/// Reads Lark's notation: rules (names in lower case) of terminals (names in upper case, literals, regular expressions),
/// of which `start` is what an answer is.
///
/// Only the texts of a grammar count here, not how they are taken apart: a text may be split into terminals in any way.
/// So what tells trees apart (`?name`, `!name`, `_name`, `-> alias`, priorities) is read and makes no difference. What
/// `%ignore` names may stand after each terminal.
struct LarkReader {
    /// What is known of a statement before all of them are read.
    private struct Definition {
        let name: String
        let line: Int
        let isTerminal: Bool
        let body: Part
    }

    /// As `GrammarNode`, with names.
    private indirect enum Part {
        case text(RegexNode)
        case name(String, line: Int, isTerminal: Bool)
        case sequence([Part])
        case alternatives([Part])
        case repetition(Part, min: Int, max: Int?)
    }

    private let pieces: [LarkLexer.Piece]
    private var place = 0
    private var depth = 0
    private var definitions: [Definition] = []
    private var ignored: [Part] = []

    private init(_ text: String) throws(ConstraintFault) { pieces = try LarkLexer.pieces(of: text) }

    /// - Throws: `ConstraintFault` that names the line.
    static func read(_ text: String) throws(ConstraintFault) -> GrammarSource {
        var reader = try LarkReader(text)
        while reader.token != .end { try reader.statement() }
        return try reader.source()
    }

    // MARK: Pieces

    private var token: LarkToken { pieces[place].token }
    private var line: Int { pieces[place].line }

    private func token(_ distance: Int) -> LarkToken {
        place + distance < pieces.count ? pieces[place + distance].token : .end
    }

    private mutating func take(_ sign: String) -> Bool {
        guard token == .sign(sign) else { return false }
        place += 1
        return true
    }

    private mutating func skipNewLines() { while token == .newLine { place += 1 } }

    private func unusable(_ problem: String) -> ConstraintFault { .grammar(.unusable, line: line, problem) }

    private var shown: String {
        switch token {
        case .rule(let name), .terminal(let name): name
        case .text: "a text"
        case .regex: "a regular expression"
        case .number(let number): "\(number)"
        case .directive(let name): "%\(name)"
        case .sign(let sign): "'\(sign)'"
        case .newLine: "the end of the line"
        case .end: "the end"
        }
    }

    // MARK: Statements

    private mutating func statement() throws(ConstraintFault) {
        switch token {
        case .newLine: place += 1
        case .directive(let name): try directive(name)
        default: try definition()
        }
    }

    private mutating func directive(_ name: String) throws(ConstraintFault) {
        let first = line
        place += 1
        switch name {
        case "ignore":
            ignored.append(try expansions())
        case "import":
            guard token == .rule("common"), token(1) == .sign(".") || token(1) == .sign("(") else {
                throw unusable("%import knows common alone: %import common.NAME")
            }
            place += 1
            if take("(") {
                repeat { try importCommon(first) } while take(",")
                guard take(")") else { throw unusable("')' must end the names, but there is \(shown)") }
            } else {
                place += 1
                try importCommon(first)
            }
        case "llguidance":
            guard take("{"), take("}") else { throw unusable("%llguidance can be empty alone here: {}") }
        default:
            throw unusable("%\(name) is not known here; those are %ignore and %import common.NAME")
        }
        try endOfStatement()
    }

    private mutating func importCommon(_ line: Int) throws(ConstraintFault) {
        guard case .terminal(let name) = token, let pattern = LarkCommon.patterns[name] else {
            throw unusable(
                "common has no \(shown); it has \(LarkCommon.patterns.keys.sorted().joined(separator: ", "))")
        }
        place += 1
        var alias = name
        if take("->") {
            guard case .terminal(let other) = token else {
                throw unusable("after -> must stand a terminal's name, but there is \(shown)")
            }
            place += 1
            alias = other
        }
        guard let node = try? RegexParser.parse(pattern) else { return }
        definitions.append(Definition(name: alias, line: line, isTerminal: true, body: .text(node)))
    }

    private mutating func endOfStatement() throws(ConstraintFault) {
        guard token == .newLine || token == .end else { throw unusable("\(shown) is not expected here") }
    }

    private mutating func definition() throws(ConstraintFault) {
        while take("?") || take("!") {}
        let line = line
        let (name, isTerminal): (String, Bool)
        switch token {
        case .rule(let text): (name, isTerminal) = (text, false)
        case .terminal(let text): (name, isTerminal) = (text, true)
        default: throw unusable("a rule must begin with its name, but there is \(shown)")
        }
        place += 1
        if token == .sign("{") { throw unusable("templates (\(name){...}) are not known here") }
        if token == .sign("[") { throw unusable("options of a rule (\(name)[...]) are not known here") }
        if take("."), case .number = token { place += 1 }
        guard take(":") else { throw unusable("after the name \(name) must come ':', but there is \(shown)") }
        definitions.append(Definition(name: name, line: line, isTerminal: isTerminal, body: try expansions()))
        try endOfStatement()
    }

    /// Whether a new statement begins at the next piece that is no new line.
    private var isAtStatement: Bool {
        var ahead = 0
        while token(ahead) == .newLine { ahead += 1 }
        while token(ahead) == .sign("?") || token(ahead) == .sign("!") { ahead += 1 }
        switch token(ahead) {
        case .directive, .end: return true
        case .rule, .terminal:
            switch token(ahead + 1) {
            case .sign(":"), .sign("{"), .sign("."), .sign("["): return true
            default: return false
            }
        default: return false
        }
    }

    // MARK: What rules are made of

    /// - Parameter closing: what ends the group; nil outside of groups, where the line does.
    private mutating func expansions(until closing: String? = nil) throws(ConstraintFault) -> Part {
        depth += 1
        defer { depth -= 1 }
        guard depth <= GrammarLimits.depth else {
            throw .grammar(.tooLarge, line: line, "more than \(GrammarLimits.depth) groups in groups")
        }
        var all = [try sequence(closing)]
        while true {
            let before = place
            skipNewLines()
            guard take("|") else {
                if closing == nil { place = before }
                return all.count == 1 ? all[0] : .alternatives(all)
            }
            all.append(try sequence(closing))
        }
    }

    private mutating func sequence(_ closing: String?) throws(ConstraintFault) -> Part {
        // A line may go on after a colon, a bar or a parenthesis.
        if closing != nil || token == .newLine && !isAtStatement { skipNewLines() }
        var parts: [Part] = []
        while let part = try atom() {
            parts.append(try repeated(part))
            if closing != nil { skipNewLines() }
        }
        if take("->") {
            switch token {
            case .rule, .terminal: place += 1
            default: throw unusable("after -> must stand a name, but there is \(shown)")
            }
            if closing != nil { skipNewLines() }
        }
        return parts.count == 1 ? parts[0] : .sequence(parts)
    }

    /// - Returns: nil if none stands here.
    private mutating func atom() throws(ConstraintFault) -> Part? {
        let first = line
        switch token {
        case .rule(let name), .terminal(let name):
            let isTerminal = if case .terminal = token { true } else { false }
            place += 1
            if token == .sign("{"), case .rule = token(1) {
                throw unusable("templates (\(name){...}) are not known here")
            }
            return .name(name, line: first, isTerminal: isTerminal)
        case .text(let scalars, let ignoresCase):
            place += 1
            if token == .sign("..") { return try range(scalars) }
            let node = RegexNode.sequence(scalars.map { .set(.one($0.value)) })
            return .text(ignoresCase ? node.ignoringCase : node)
        case .regex(let node):
            place += 1
            return .text(node)
        case .sign("("):
            place += 1
            let group = try expansions(until: ")")
            guard take(")") else {
                throw unusable("the group that begins in line \(first) has no ')' before \(shown)")
            }
            return group
        case .sign("["):
            place += 1
            let group = try expansions(until: "]")
            guard take("]") else {
                throw unusable("the group that begins in line \(first) has no ']' before \(shown)")
            }
            return .repetition(group, min: 0, max: 1)
        case .directive(let name) where name == "json" || name == "regex":
            throw unusable("%\(name) is not known here")
        case .sign("~"): throw unusable("'~' before a terminal is not known here")
        default: return nil
        }
    }

    private mutating func range(_ low: [Unicode.Scalar]) throws(ConstraintFault) -> Part {
        place += 1
        guard case .text(let high, ignoresCase: false) = token, low.count == 1, high.count == 1 else {
            throw unusable("a range has one character on each side, as in \"a\"..\"z\"")
        }
        guard low[0].value <= high[0].value else {
            throw unusable("a range from '\(low[0])' down to '\(high[0])'")
        }
        place += 1
        let set = ScalarRanges([low[0].value...high[0].value])
        return .text(.set(set))
    }

    private mutating func repeated(_ part: Part) throws(ConstraintFault) -> Part {
        var part = part
        while true {
            if take("*") {
                part = .repetition(part, min: 0, max: nil)
            } else if take("+") {
                part = .repetition(part, min: 1, max: nil)
            } else if take("?") {
                part = .repetition(part, min: 0, max: 1)
            } else if take("~") {
                guard case .number(let low) = token else {
                    throw unusable("after ~ must stand a count, but there is \(shown)")
                }
                place += 1
                var high = low
                if take("..") {
                    guard case .number(let most) = token else {
                        throw unusable("after .. must stand a count, but there is \(shown)")
                    }
                    place += 1
                    high = most
                }
                part = try counted(part, low, high)
            } else if take("{") {
                part = try braces(part)
            } else {
                return part
            }
        }
    }

    /// After the opening brace.
    private mutating func braces(_ part: Part) throws(ConstraintFault) -> Part {
        var low: Int?
        if case .number(let number) = token { (low, place) = (number, place + 1) }
        var high = low
        if take(",") {
            high = nil
            if case .number(let number) = token { (high, place) = (number, place + 1) }
            guard low != nil || high != nil else {
                throw unusable("a count such as {2}, {2,} or {2,5} is meant")
            }
        }
        guard low != nil || high != nil, take("}") else {
            throw unusable("a count such as {2}, {2,} or {2,5} is meant, but there is \(shown)")
        }
        return try counted(part, low ?? 0, high)
    }

    private func counted(_ part: Part, _ low: Int, _ high: Int?) throws(ConstraintFault) -> Part {
        if let high, high < low { throw unusable("a count from \(low) down to \(high)") }
        return .repetition(part, min: low, max: high)
    }

    // MARK: The whole

    private func source() throws(ConstraintFault) -> GrammarSource {
        var table = RuleTable()
        let skip: GrammarNode?
        if ignored.isEmpty {
            skip = nil
        } else {
            // No name in the text has a sign like that.
            let name = "%ignore"
            let body = GrammarNode.alternatives(
                of: try ignored.map { part throws(ConstraintFault) in
                    try node(of: part, skip: nil, isTerminal: true, &table)
                })
            try table.define(name, line: 1, .repetition(body, min: 0, max: nil))
            skip = .rule(try table.number(of: name, line: 1))
        }
        for definition in definitions {
            let body = try node(
                of: definition.body, skip: definition.isTerminal ? nil : skip,
                isTerminal: definition.isTerminal, &table)
            try table.define(definition.name, line: definition.line, body)
        }
        let source = try table.source(start: "start")
        try checkTerminals(source)
        return source
    }

    private func node(
        of part: Part, skip: GrammarNode?, isTerminal: Bool, _ table: inout RuleTable
    ) throws(ConstraintFault) -> GrammarNode {
        switch part {
        case .text(let regex): return Self.sequence(.regular(regex), skip)
        case .name(let name, let line, let namesTerminal):
            guard namesTerminal || !isTerminal else {
                throw .grammar(
                    .unusable, line: line,
                    "a terminal can't be made of the rule \(name); its name would have to be in upper case")
            }
            return Self.sequence(.rule(try table.number(of: name, line: line)), namesTerminal ? skip : nil)
        case .sequence(let parts):
            return .sequence(
                try parts.map { part throws(ConstraintFault) in
                    try node(of: part, skip: skip, isTerminal: isTerminal, &table)
                })
        case .alternatives(let parts):
            return .alternatives(
                try parts.map { part throws(ConstraintFault) in
                    try node(of: part, skip: skip, isTerminal: isTerminal, &table)
                })
        case .repetition(let part, let min, let max):
            return .repetition(
                try node(of: part, skip: skip, isTerminal: isTerminal, &table), min: min, max: max)
        }
    }

    private static func sequence(_ node: GrammarNode, _ skip: GrammarNode?) -> GrammarNode {
        skip.map { .sequence([node, $0]) } ?? node
    }

    /// - Throws: `ConstraintFault` for a terminal that is made of itself.
    private func checkTerminals(_ source: GrammarSource) throws(ConstraintFault) {
        let isTerminal = Set(definitions.filter(\.isTerminal).map(\.name))
        let terminals = source.rules.indices.filter { isTerminal.contains(source.rules[$0].name) }
        // How many others each terminal needs that are not done yet, and who needs it.
        var missing = [Int](repeating: 0, count: source.rules.count)
        var users = [[Int]](repeating: [], count: source.rules.count)
        for terminal in terminals {
            source.rules[terminal].body.forEachReference {
                missing[terminal] += 1
                users[$0].append(terminal)
            }
        }
        var done = terminals.filter { missing[$0] == 0 }
        var count = 0
        while count < done.count {
            for user in users[done[count]] {
                missing[user] -= 1
                if missing[user] == 0 { done.append(user) }
            }
            count += 1
        }
        guard let first = terminals.first(where: { missing[$0] > 0 }) else { return }
        throw .grammar(
            .unusable, line: source.rules[first].line,
            "the terminal \(source.rules[first].name) is made of itself; only rules can be, whose names are in lower case"
        )
    }
}
