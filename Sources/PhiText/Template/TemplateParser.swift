import JSON

/// Parses tokens into statements and expressions; this file has common functions and tags.
struct TemplateParser {
    private let tokens: [TemplateToken]
    let limits: TemplateLimits
    private var at = 0
    private(set) var names: [String] = []
    private var symbols: [ExactText: Int] = [:]
    private var nesting = 0
    /// Number of loops around the current tag that `break` can leave.
    private var loops = 0
    private var macros = 0
    private var assigned: Set<Int> = []
    /// Names that are read, and those that are called.
    private var reads: Set<Int> = []
    private var calls: [(symbol: Int, line: Int)] = []
    /// Members of variables that are read, as lists of names that begin with the variable's.
    private(set) var members: Set<[String]> = []

    init(_ tokens: [TemplateToken], limits: TemplateLimits) {
        self.tokens = tokens
        self.limits = limits
    }

    // MARK: Tokens and names

    // Most recursive functions are not inlined: the parser's depth is bounded by a count, which needs small stack
    // frames on threads with small stacks.

    var current: TemplateToken { tokens[at] }

    var following: TemplateToken { tokens[min(at + 1, tokens.count - 1)] }

    var line: Int { tokens[at].line }

    mutating func advance() { at = min(at + 1, tokens.count - 1) }

    func isName(_ name: String) -> Bool { current.kind == .name(name) }
    func isSign(_ sign: String) -> Bool { current.kind == .sign(sign) }

    mutating func skip(name: String) -> Bool {
        guard isName(name) else { return false }
        advance()
        return true
    }

    mutating func skip(sign: String) -> Bool {
        guard isSign(sign) else { return false }
        advance()
        return true
    }

    mutating func expect(sign: String) throws {
        guard skip(sign: sign) else { throw unexpected("'\(sign)'") }
    }

    mutating func expectName() throws -> String {
        guard case .name(let name) = current.kind else { throw unexpected("a name") }
        advance()
        return name
    }

    func malformed(_ message: String, _ line: Int? = nil) -> any Error {
        templateFault(.malformed, line: line ?? self.line, message)
    }

    func unsupported(_ message: String, _ line: Int? = nil) -> any Error {
        templateFault(.unsupported, line: line ?? self.line, message)
    }

    func unexpected(_ wanted: String) -> any Error {
        malformed("\(current.spelling) where \(wanted) is expected")
    }

    mutating func symbol(_ name: String) -> Int {
        if let known = symbols[ExactText(name)] { return known }
        names.append(name)
        symbols[ExactText(name)] = names.count - 1
        return names.count - 1
    }

    mutating func noteRead(_ symbol: Int, line: Int) {
        reads.insert(symbol)
        if macros > 0, names[symbol] == "varargs" || names[symbol] == "kwargs" {
            calls.append((symbol, line))
        }
    }

    mutating func noteCall(_ symbol: Int, line: Int) { calls.append((symbol, line)) }

    /// Records the member that an expression begins with, such as `question.text` in `question.text.upper()`.
    mutating func noteMember(in expression: Expression) {
        var names: [String] = []
        var part = expression
        while true {
            switch part.kind {
            case .name(let symbol):
                if !names.isEmpty { members.insert([self.names[symbol]] + names.reversed()) }
                return
            case .attribute(let base, let name):
                // A dict's method takes precedence over its member.
                if Builtin.methods[name]?.owner == .dict { names = [] } else { names.append(name) }
                part = base
            case .item(let base, let key):
                if case .string(let name) = key.kind { names.append(name) } else { names = [] }
                part = base
            case .method(let base, _, _, _), .slice(let base, _, _, _): (names, part) = ([], base)
            default: return
            }
        }
    }

    /// Runs `body` one level deeper, within the limit.
    mutating func nested<T>(_ body: (inout Self) throws -> T) throws -> T {
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= limits.nesting else {
            throw unsupported("the template is nested more than \(limits.nesting) levels deep")
        }
        return try body(&self)
    }

    /// Refuses calls of unknown functions.
    /// - Returns: names that are read and never assigned, except functions.
    func checkNames() throws -> Set<String> {
        for (symbol, line) in calls where !assigned.contains(symbol) {
            switch names[symbol] {
            case let name where Evaluator.functions.contains(name): break
            case "strftime_now":
                throw unsupported(
                    "strftime_now asks for the time, and results must not depend on the time", line)
            case "loop": throw unsupported("recursive loops ('loop(...)') are not supported", line)
            case let name:
                let known = Evaluator.functions.sorted().joined(separator: ", ")
                throw unsupported("the function '\(name)' is not supported; there are \(known)", line)
            }
        }
        let skipped = assigned.union(calls.map(\.symbol))
        return Set(reads.subtracting(skipped).map { names[$0] }).subtracting(["loop"])
    }

    // MARK: Tags

    /// Parses statements up to a tag named in `ends`, whose name is then the current token.
    mutating func statements(until ends: Set<String>, opening: (name: String, line: Int)?) throws
        -> [Statement]
    {
        try nested { parser in
            var result: [Statement] = []
            while true {
                let line = parser.line
                if case .data(let text) = parser.current.kind {
                    parser.advance()
                    result.append(Statement(kind: .text(text), line: line))
                } else if parser.skip(sign: "{{") {
                    let value = try parser.expression()
                    try parser.expect(sign: "}}")
                    result.append(Statement(kind: .output(value), line: line))
                } else if parser.skip(sign: "{%") {
                    if case .name(let name) = parser.current.kind, ends.contains(name) { return result }
                    result.append(try parser.statement())
                    try parser.expect(sign: "%}")
                } else {
                    guard let opening else { return result }
                    throw parser.malformed("'\(opening.name)' has no end", opening.line)
                }
            }
        }
    }

    /// Parses the body of a tag up to its end tag, which is consumed.
    private mutating func body(_ name: String, line: Int) throws -> [Statement] {
        try expect(sign: "%}")
        let result = try statements(until: ["end" + name], opening: (name, line))
        advance()
        return result
    }

    /// Parses a body that `break` can't leave.
    private mutating func closedBody(_ name: String, line: Int) throws -> [Statement] {
        let outer = loops
        loops = 0
        defer { loops = outer }
        return try body(name, line: line)
    }

    private mutating func statement() throws -> Statement {
        let line = self.line
        let name = try expectName()
        switch name {
        case "if": return Statement(kind: try branch(line), line: line)
        case "for": return Statement(kind: .loop(try loop(line)), line: line)
        case "set": return Statement(kind: try set(line), line: line)
        case "macro": return Statement(kind: .macro(try macro(line)), line: line)
        case "generation": return Statement(kind: .scope(try closedBody(name, line: line)), line: line)
        case "break", "continue":
            guard loops > 0 else { throw malformed("'\(name)' outside a loop", line) }
            return Statement(kind: name == "break" ? .breakLoop : .continueLoop, line: line)
        case "elif", "else", "endif", "endfor", "endset", "endmacro", "endgeneration":
            throw malformed("'\(name)' has no beginning here", line)
        default:
            let hint = name == "raw" ? "write {{ '{{' }} for braces" : "there are if, for, set and macro"
            throw unsupported("the tag '\(name)' is not supported; \(hint)", line)
        }
    }

    private mutating func branch(_ line: Int) throws -> Statement.Form {
        var branches: [(test: Expression, body: [Statement])] = []
        while true {
            let test = try binary(above: 0)
            try expect(sign: "%}")
            branches.append((test, try statements(until: ["elif", "else", "endif"], opening: ("if", line))))
            if skip(name: "elif") { continue }
            return .branch(branches, otherwise: try alternative("if", line))
        }
    }

    /// Parses the body after an optional `else`, up to the end tag.
    private mutating func alternative(_ name: String, _ line: Int) throws -> [Statement] {
        if skip(name: "else") { return try body(name, line: line) }
        advance()
        return []
    }

    private mutating func loop(_ line: Int) throws -> ForLoop {
        var targets: [Int] = []
        let isBracketed = skip(sign: "(")
        repeat {
            let target = try expectName()
            if target == "loop" { throw malformed("'loop' can't be assigned to", line) }
            targets.append(try assign(target))
        } while skip(sign: ",")
        if isBracketed { try expect(sign: ")") }
        guard skip(name: "in") else { throw unexpected("'in'") }
        let items = try binary(above: 0)
        let condition = skip(name: "if") ? try expression() : nil
        try expect(sign: "%}")
        loops += 1
        let body = try statements(until: ["endfor", "else"], opening: ("for", line))
        loops -= 1
        return ForLoop(
            targets: targets, items: items, condition: condition, body: body,
            otherwise: try alternative("for", line), loopSymbol: symbol("loop"))
    }

    private mutating func set(_ line: Int) throws -> Statement.Form {
        let name = try expectName()
        var target = Target(symbol: symbol(name))
        if skip(sign: ".") {
            noteRead(target.symbol, line: line)
            target.member = try expectName()
        } else {
            if name == "loop" { throw malformed("'loop' can't be assigned to", line) }
            _ = try assign(name)
        }
        if skip(sign: "=") { return .set(target, try expression()) }
        if isSign("|") { throw unsupported("a filter of a 'set' block is not supported", line) }
        if isSign(",") {
            throw unsupported("a 'set' of several names is not supported; set one by one", line)
        }
        return .setBlock(target, try body("set", line: line))
    }

    private mutating func macro(_ line: Int) throws -> MacroDefinition {
        let name = try assign(try expectName())
        try expect(sign: "(")
        var parameters: [(name: Int, fallback: Expression?)] = []
        while !isSign(")") {
            if !parameters.isEmpty { try expect(sign: ",") }
            let parameter = try assign(try expectName())
            if parameters.contains(where: { $0.name == parameter }) {
                throw malformed("the macro has the parameter '\(names[parameter])' twice", line)
            }
            guard parameters.count < limits.names else {
                throw unsupported("the macro has too many parameters", line)
            }
            let fallback = skip(sign: "=") ? try expression() : nil
            if fallback == nil, parameters.last?.fallback != nil {
                throw malformed("a parameter without a default follows one with a default", line)
            }
            parameters.append((parameter, fallback))
        }
        advance()
        macros += 1
        let body = try closedBody("macro", line: line)
        macros -= 1
        return MacroDefinition(name: name, parameters: parameters, body: body)
    }

    private mutating func assign(_ name: String) throws -> Int {
        if ["true", "false", "none", "True", "False", "None"].contains(name) {
            throw malformed("'\(name)' can't be assigned to")
        }
        let symbol = self.symbol(name)
        assigned.insert(symbol)
        return symbol
    }
}
