/// A template that was read and checked.
struct TemplateProgram: Sendable {
    let body: [Statement]
    /// The names that `Expression.Kind.name` and targets refer to by index.
    let names: [String]
    /// Names the template reads and never assigns, functions aside.
    let freeNames: Set<String>

    /// - Throws: `TemplateFault`: `malformed` for broken syntax, `unsupported` for a tag, filter, test,
    ///   function or method that phibatch does not have.
    init(_ source: String, _ whitespace: TemplateWhitespace, limits: TemplateLimits) throws {
        guard source.utf8.count <= limits.sourceBytes else {
            throw TemplateFault(
                kind: .unsupported, line: 1,
                message: "the template is larger than \(limits.sourceBytes) bytes")
        }
        var parser = TemplateParser(try TemplateLexer.tokens(source, whitespace), limits: limits)
        body = try parser.template()
        names = parser.names
        freeNames = try parser.checkNames()
    }
}

/// Reads tokens into statements and expressions. The statements are in this file, the expressions in
/// TemplateParser+Expressions.swift.
struct TemplateParser {
    let tokens: [TemplateToken]
    let limits: TemplateLimits
    var at = 0
    private(set) var names: [String] = []
    private var symbols: [ExactText: Int] = [:]
    private var nesting = 0
    /// Loops around the current tag that `break` can leave.
    private var loops = 0
    private var macros = 0
    private var assigned: Set<Int> = []
    /// The names that are read, and those that are called.
    private var reads: Set<Int> = []
    private var calls: [(symbol: Int, line: Int)] = []

    init(_ tokens: [TemplateToken], limits: TemplateLimits) {
        self.tokens = tokens
        self.limits = limits
    }

    // MARK: Tokens and names

    var current: TemplateToken { tokens[at] }
    var following: TemplateToken { tokens[min(at + 1, tokens.count - 1)] }

    mutating func advance() { at = min(at + 1, tokens.count - 1) }

    @inline(never)
    func isName(_ name: String) -> Bool { current.kind == .name(name) }
    @inline(never)
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

    mutating func expect(_ kind: TemplateToken.Kind, _ spelling: String) throws {
        guard current.kind == kind else { throw unexpected(spelling) }
        advance()
    }

    mutating func expectName() throws -> String {
        guard case .name(let name) = current.kind else { throw unexpected("a name") }
        advance()
        return name
    }

    @inline(never)
    func malformed(_ message: String, _ line: Int? = nil) -> TemplateFault {
        TemplateFault(kind: .malformed, line: line ?? current.line, message: message)
    }

    @inline(never)
    func unsupported(_ message: String, _ line: Int? = nil) -> TemplateFault {
        TemplateFault(kind: .unsupported, line: line ?? current.line, message: message)
    }

    @inline(never)
    func unexpected(_ wanted: String) -> TemplateFault {
        malformed("\(current.spelling) stands where \(wanted) should")
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

    /// Runs `body` one level deeper, within the limit.
    mutating func nested<T>(_ body: (inout Self) throws -> T) throws -> T {
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= limits.nesting else {
            throw unsupported("the template is nested more than \(limits.nesting) levels deep")
        }
        return try body(&self)
    }

    /// Refuses calls of what is no function here.
    /// - Returns: The names read and never assigned, functions aside.
    func checkNames() throws -> Set<String> {
        for (symbol, line) in calls where !assigned.contains(symbol) {
            let name = names[symbol]
            if let reason = refusedNames[name] { throw unsupported(reason, line) }
            switch name {
            case "loop": throw unsupported("recursive loops ('loop(...)') are not supported", line)
            case "varargs", "kwargs":
                throw unsupported("a macro's '\(name)' is not supported", line)
            default:
                if FunctionName(rawValue: name) == nil {
                    throw unsupported("the function '\(name)' is not supported", line)
                }
            }
        }
        let called = Set(calls.map(\.symbol))
        return Set(
            reads.filter { !assigned.contains($0) && !called.contains($0) }.map { names[$0] }
                .filter { $0 != "loop" })
    }

    // MARK: Statements

    mutating func template() throws -> [Statement] {
        try statements(until: [], opening: nil)
    }

    /// Statements up to a tag named in `ends`, whose name is then the current token.
    private mutating func statements(
        until ends: Set<String>, opening: (name: String, line: Int)?
    ) throws -> [Statement] {
        try nested { parser in
            var result: [Statement] = []
            while true {
                let line = parser.current.line
                switch parser.current.kind {
                case .data(let text):
                    parser.advance()
                    result.append(Statement(kind: .text(text), line: line))
                case .variableBegin:
                    parser.advance()
                    let value = try parser.expressionList()
                    try parser.expect(.variableEnd, "'}}'")
                    result.append(Statement(kind: .output(value), line: line))
                case .blockBegin:
                    parser.advance()
                    if case .name(let name) = parser.current.kind, ends.contains(name) { return result }
                    result.append(try parser.statement())
                    try parser.expect(.blockEnd, "'%}'")
                default:
                    guard let opening else { return result }
                    throw parser.malformed("'\(opening.name)' has no end", opening.line)
                }
            }
        }
    }

    /// The body of a tag up to its end tag, which is consumed.
    private mutating func body(_ name: String, line: Int) throws -> [Statement] {
        try expect(.blockEnd, "'%}'")
        let result = try statements(until: ["end" + name], opening: (name, line))
        advance()
        return result
    }

    @inline(never)
    private mutating func statement() throws -> Statement {
        let line = current.line
        let name = try expectName()
        switch name {
        case "if": return Statement(kind: try branch(line), line: line)
        case "for": return Statement(kind: .loop(try loop(line)), line: line)
        case "set": return Statement(kind: try set(line), line: line)
        case "macro": return Statement(kind: .macro(try macro(line)), line: line)
        case "with": return Statement(kind: try with(line), line: line)
        case "filter":
            let filters = try filterChain(startsInline: true)
            return Statement(kind: .filterBlock(filters, try body("filter", line: line)), line: line)
        case "generation":
            let outer = loops
            loops = 0
            defer { loops = outer }
            return Statement(kind: .scope([], try body("generation", line: line)), line: line)
        case "print":
            let value = try expressionList()
            return Statement(kind: .output(value), line: line)
        case "break", "continue":
            guard loops > 0 else { throw malformed("'\(name)' stands outside a loop", line) }
            return Statement(kind: name == "break" ? .breakLoop : .continueLoop, line: line)
        case "elif", "else", "endif", "endfor", "endset", "endmacro", "endwith", "endfilter", "endgeneration",
            "endraw":
            throw malformed("'\(name)' has no beginning here", line)
        default:
            throw unsupported("the tag '\(name)' is not supported", line)
        }
    }

    @inline(never)
    private mutating func branch(_ line: Int) throws -> Statement.Kind {
        var branches: [(test: Expression, body: [Statement])] = []
        while true {
            let test = try expressionList(conditionals: false)
            try expect(.blockEnd, "'%}'")
            let body = try statements(until: ["elif", "else", "endif"], opening: ("if", line))
            branches.append((test, body))
            if skip(name: "elif") { continue }
            if skip(name: "else") {
                return .branch(branches, otherwise: try self.body("if", line: line))
            }
            advance()
            return .branch(branches, otherwise: [])
        }
    }

    @inline(never)
    private mutating func loop(_ line: Int) throws -> ForLoop {
        let target = try self.target(end: "in", members: false)
        guard skip(name: "in") else { throw unexpected("'in'") }
        let items = try expressionList(conditionals: false, end: "recursive")
        let condition = skip(name: "if") ? try expression() : nil
        if isName("recursive") { throw unsupported("recursive loops are not supported", line) }
        try expect(.blockEnd, "'%}'")
        loops += 1
        let body = try statements(until: ["endfor", "else"], opening: ("for", line))
        loops -= 1
        var otherwise: [Statement] = []
        if skip(name: "else") {
            otherwise = try self.body("for", line: line)
        } else {
            advance()
        }
        return ForLoop(
            target: target, items: items, condition: condition, body: body, otherwise: otherwise,
            loopSymbol: symbol("loop"))
    }

    @inline(never)
    private mutating func set(_ line: Int) throws -> Statement.Kind {
        let target = try self.target(end: nil, members: true)
        if skip(sign: "=") { return .set(target, try expressionList()) }
        let filters = try filterChain(startsInline: false)
        return .setBlock(target, filters, try body("set", line: line))
    }

    @inline(never)
    private mutating func macro(_ line: Int) throws -> MacroDefinition {
        let name = assign(try plainName())
        try expect(sign: "(")
        var parameters: [(name: Int, fallback: Expression?)] = []
        while !isSign(")") {
            if !parameters.isEmpty { try expect(sign: ",") }
            let parameter = assign(try plainName())
            if parameters.contains(where: { $0.name == parameter }) {
                throw malformed("the macro has the parameter '\(names[parameter])' twice", line)
            }
            let fallback = skip(sign: "=") ? try expression() : nil
            if fallback == nil, parameters.last?.fallback != nil {
                throw malformed("a parameter without a default follows one with a default", line)
            }
            parameters.append((parameter, fallback))
        }
        advance()
        let outer = loops
        loops = 0
        macros += 1
        let body = try self.body("macro", line: line)
        macros -= 1
        loops = outer
        return MacroDefinition(name: name, parameters: parameters, body: body)
    }

    @inline(never)
    private mutating func with(_ line: Int) throws -> Statement.Kind {
        var values: [(Target, Expression)] = []
        while current.kind != .blockEnd {
            if !values.isEmpty { try expect(sign: ",") }
            let target = try self.target(end: nil, members: false)
            try expect(sign: "=")
            values.append((target, try expression()))
        }
        return .scope(values, try body("with", line: line))
    }

    // MARK: Targets

    private mutating func assign(_ name: String) -> Int {
        let symbol = self.symbol(name)
        assigned.insert(symbol)
        return symbol
    }

    private mutating func plainName() throws -> String {
        let name = try expectName()
        if ["true", "false", "none", "True", "False", "None"].contains(name) {
            throw malformed("'\(name)' can't be assigned to")
        }
        return name
    }

    /// - Parameter end: A name that ends the list of targets.
    private mutating func target(end: String?, members: Bool) throws -> Target {
        try nested { parser in
            var targets: [Target] = []
            var isTuple = false
            while true {
                if !targets.isEmpty, parser.isTargetEnd(end) { break }
                if parser.skip(sign: "(") {
                    targets.append(try parser.target(end: nil, members: members))
                    try parser.expect(sign: ")")
                } else {
                    targets.append(try parser.singleTarget(members: members))
                }
                guard parser.skip(sign: ",") else { break }
                isTuple = true
            }
            return isTuple ? .tuple(targets) : targets[0]
        }
    }

    private func isTargetEnd(_ end: String?) -> Bool {
        current.kind == .blockEnd || isSign(")") || isSign("=") || end.map { isName($0) } == true
    }

    private mutating func singleTarget(members: Bool) throws -> Target {
        let line = current.line
        let name = try plainName()
        guard members, skip(sign: ".") else {
            if name == "loop" {
                throw malformed("'loop' can't be assigned to", line)
            }
            return .name(assign(name))
        }
        let namespace = symbol(name)
        noteRead(namespace, line: line)
        return .member(namespace: namespace, name: try expectName())
    }
}
