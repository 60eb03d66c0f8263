/// Tags and what they assign to.
extension TemplateParser {
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
                let line = parser.currentLine
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
        let line = currentLine
        let name = try expectName()
        switch name {
        case "if": return Statement(kind: try branch(line), line: line)
        case "for": return Statement(kind: .loop(try loop(line)), line: line)
        case "set": return Statement(kind: try set(line), line: line)
        case "macro": return Statement(kind: .macro(try macro(line)), line: line)
        case "generation":
            let outer = loops
            loops = 0
            defer { loops = outer }
            return Statement(kind: .scope(try body("generation", line: line)), line: line)
        case "break", "continue":
            guard loops > 0 else { throw malformed("'\(name)' stands outside a loop", line) }
            return Statement(kind: name == "break" ? .breakLoop : .continueLoop, line: line)
        case "elif", "else", "endif", "endfor", "endset", "endmacro", "endgeneration":
            throw malformed("'\(name)' has no beginning here", line)
        default:
            let hint = name == "raw" ? "; write {{ '{{' }} for braces" : ""
            throw unsupported("the tag '\(name)' is not supported\(hint)", line)
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
        if isSign("|") { throw unsupported("a filter of a 'set' block is not supported", line) }
        return .setBlock(target, try body("set", line: line))
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
        let outer = loops
        loops = 0
        macros += 1
        let body = try self.body("macro", line: line)
        macros -= 1
        loops = outer
        return MacroDefinition(name: name, parameters: parameters, body: body)
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
        let line = currentLine
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
