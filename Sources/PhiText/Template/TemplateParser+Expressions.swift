import JSON

extension TemplateParser {
    /// Parses a full expression, conditionals included.
    mutating func expression() throws -> Expression {
        let line = self.line
        var result = try binary(above: 0)
        while skip(name: "if") {
            let test = try binary(above: 0)
            let otherwise = skip(name: "else") ? try nested { try $0.expression() } : nil
            result = try make(
                .conditional(test: test, then: result, otherwise: otherwise), line, test, result, otherwise)
        }
        return result
    }

    func make(
        _ kind: Expression.Form, _ line: Int, _ parts: Expression?..., all: [Expression?] = [],
        isMarkedSafe: Bool = false
    ) throws -> Expression {
        let result = Expression(kind, line: line, parts: parts + all, isMarkedSafe: isMarkedSafe)
        guard result.height <= limits.height else {
            throw unsupported("an expression is more than \(limits.height) levels deep", line)
        }
        return result
    }

    // MARK: Operators

    /// Returns the current operator, if there is one.
    func infix() -> BinaryOperator? {
        switch current.kind {
        case .name("not"): following.kind == .name("in") ? .notIn : nil
        case .name(let name), .sign(let name): BinaryOperator(rawValue: name)
        default: nil
        }
    }

    /// Parses operators that bind tighter than `strength`, all left-associative.
    mutating func binary(above strength: Int) throws -> Expression {
        try nested { try $0.operators(above: strength) }
    }

    mutating func operators(above strength: Int) throws -> Expression {
        let line = self.line
        var left: Expression
        if strength < 3, skip(name: "not") {
            left = try negated(line)
        } else {
            left = try filtered(try unary())
        }
        var isComparison = false
        while let infix = infix(), infix.strength > strength {
            if infix.strength == 4 {
                if isComparison {
                    throw unsupported("comparisons in a row are not supported; join them with 'and'")
                }
                isComparison = true
            }
            advance()
            if infix == .notIn { advance() }
            let right = try binary(above: infix.strength)
            // Jinja escapes strings that are added to marked ones.
            if infix == .add, left.isMarkedSafe || right.isMarkedSafe {
                throw unsupported("'+' beside the filter 'safe' is not supported; '~' is", line)
            }
            left = try make(.binary(infix, left, right), line, left, right)
        }
        for sign in ["**", "//", "/"] where isSign(sign) {
            throw unsupported("the operator '\(sign)' is not supported")
        }
        return left
    }

    /// Parses the operand of `not`: another `not`, or comparisons and tighter operators.
    mutating func negated(_ line: Int) throws -> Expression {
        let operand = try nested { parser in
            let line = parser.line
            return parser.skip(name: "not") ? try parser.negated(line) : try parser.operators(above: 3)
        }
        return try make(.not(operand), line, operand)
    }

    mutating func unary() throws -> Expression {
        let line = self.line
        guard skip(sign: "-") else { return try postfix(try primary()) }
        let operand = try nested { try $0.unary() }
        return try make(.negate(operand), line, operand)
    }

    // MARK: Operands

    /// Brackets recurse here, so this stack frame is kept small; the rest is in `atom`.
    mutating func primary() throws -> Expression {
        let line = self.line
        if skip(sign: "(") { return try parenthesized(line) }
        if skip(sign: "[") { return try list(try items(until: "]"), .list, line) }
        if skip(sign: "{") { return try dict(line) }
        return try atom()
    }

    private func list(_ items: [Expression], _ kind: ListValue.ListType, _ line: Int) throws -> Expression {
        try make(.list(items, kind), line, all: items)
    }

    /// Parses an expression in parentheses, or a tuple.
    private mutating func parenthesized(_ line: Int) throws -> Expression {
        if skip(sign: ")") { return try list([], .tuple, line) }
        let first = try expression()
        if skip(sign: ")") { return first }
        try expect(sign: ",")
        return try list([first] + (try items(until: ")")), .tuple, line)
    }

    private mutating func atom() throws -> Expression {
        let line = self.line
        switch current.kind {
        case .name(let name):
            advance()
            switch name {
            case "true", "True": return try make(.bool(true), line)
            case "false", "False": return try make(.bool(false), line)
            case "none", "None": return try make(.none, line)
            default:
                let symbol = self.symbol(name)
                noteRead(symbol, line: line)
                return try make(.name(symbol), line)
            }
        case .string(var text):
            advance()
            while case .string(let more) = current.kind {
                text += more
                advance()
            }
            return try make(.string(text), line)
        case .int(let value):
            advance()
            return try make(.int(value), line)
        case .double(let value):
            advance()
            return try make(.double(value), line)
        default: throw unexpected("an expression")
        }
    }

    private mutating func items(until end: String) throws -> [Expression] {
        var result: [Expression] = []
        while !isSign(end) {
            result.append(try expression())
            if !isSign(end) { try expect(sign: ",") }
        }
        advance()
        return result
    }

    private mutating func dict(_ line: Int) throws -> Expression {
        var pairs: [(key: Expression, value: Expression)] = []
        while !isSign("}") {
            let key = try expression()
            try expect(sign: ":")
            pairs.append((key, try expression()))
            if !isSign("}") { try expect(sign: ",") }
        }
        advance()
        return try make(.dict(pairs), line, all: pairs.flatMap { [$0.key, $0.value] })
    }

    /// Parses attributes, items, slices and calls of an operand.
    private mutating func postfix(_ base: Expression) throws -> Expression {
        var result = base
        while true {
            let line = self.line
            if skip(sign: ".") {
                result = try member(of: result, line)
            } else if skip(sign: "[") {
                result = try subscripted(result, line)
            } else if isSign("(") {
                guard case .name(let symbol) = result.kind else {
                    throw unsupported("only macros, functions and methods can be called")
                }
                noteCall(symbol, line: line)
                let arguments = try self.arguments()
                result = try make(.call(symbol, arguments), line, all: arguments.all)
            } else {
                noteMember(in: result)
                return result
            }
        }
    }

    /// Parses what follows a dot.
    private mutating func member(of base: Expression, _ line: Int) throws -> Expression {
        if case .int(let index) = current.kind {
            advance()
            return try make(.item(base, try make(.int(index), line)), line, base)
        }
        let name = try expectName()
        if isSign("(") { return try method(name, of: base, line) }
        if case .name(let symbol) = base.kind, names[symbol] == "loop", LoopState.members[name] == nil {
            throw unsupported("'loop.\(name)' is not supported", line)
        }
        return try make(.attribute(base, name), line, base)
    }

    private mutating func subscripted(_ base: Expression, _ line: Int) throws -> Expression {
        var bounds: [Expression?] = []
        repeat {
            bounds.append(isSign(":") || isSign("]") ? nil : try expression())
        } while bounds.count < 3
            && skip(sign: ":")
        if isSign(",") { throw unsupported("several indexes in one pair of brackets are not supported") }
        if bounds.count == 1 {
            guard let key = bounds[0] else { throw unexpected("an index") }
            try expect(sign: "]")
            return try make(.item(base, key), line, base, key)
        }
        try expect(sign: "]")
        let step = bounds.count > 2 ? bounds[2] : nil
        return try make(
            .slice(base, start: bounds[0], stop: bounds[1], step: step), line, base, all: bounds)
    }

    private mutating func method(_ name: String, of base: Expression, _ line: Int) throws -> Expression {
        guard let method = Builtin.methods[name] else {
            throw unsupported(
                "the method '\(name)' is not supported; there are \(known(Builtin.methods))", line)
        }
        let arguments = try self.arguments()
        if let first = arguments.named.first {
            throw unsupported("the method '\(name)' takes no argument by name, not '\(first.name)'", line)
        }
        let bound = try bind(arguments, to: method, "the method '\(name)'", line)
        return try make(.method(base, name: name, method, bound), line, base, all: bound)
    }

    private func known(_ table: [String: Builtin]) -> String { table.keys.sorted().joined(separator: ", ") }

    /// Parses arguments in parentheses, from the opening one on.
    private mutating func arguments() throws -> Arguments {
        var result = Arguments()
        try expect(sign: "(")
        while !isSign(")") {
            if isSign("*") || isSign("**") {
                throw unsupported("arguments from a list or dict ('*', '**') are not supported")
            }
            if case .name(let name) = current.kind, following.kind == .sign("=") {
                if result.named.contains(where: { ExactText($0.name) == ExactText(name) }) {
                    throw malformed("the argument '\(name)' is given twice")
                }
                guard result.named.count < limits.names else {
                    throw unsupported("there are too many arguments here")
                }
                advance()
                advance()
                result.named.append((name, try nested { try $0.expression() }))
            } else {
                if !result.named.isEmpty {
                    throw malformed("an argument without a name follows one with a name")
                }
                result.positional.append(try nested { try $0.expression() })
            }
            if !isSign(")") { try expect(sign: ",") }
        }
        advance()
        return result
    }

    /// Returns the arguments in the order of the builtin's names, nil where none is given.
    private func bind(
        _ given: Arguments, to builtin: Builtin, _ what: String, _ line: Int
    ) throws -> [Expression?] {
        let names = builtin.names
        guard given.positional.count <= names.count else {
            let most = "\(names.count) argument\(names.count == 1 ? "" : "s")"
            throw unsupported("\(what) takes at most \(most), not \(given.positional.count)", line)
        }
        var bound: [Expression?] =
            given.positional + Array(repeating: nil, count: names.count - given.positional.count)
        for (name, value) in given.named {
            guard let at = names.firstIndex(of: name) else {
                throw unsupported("\(what) has no argument '\(name)'", line)
            }
            if bound[at] != nil { throw unsupported("\(what) has its argument '\(name)' twice", line) }
            bound[at] = value
        }
        for (i, name) in names.prefix(builtin.required).enumerated() where bound[i] == nil {
            throw unsupported("\(what) lacks its argument '\(name)'", line)
        }
        return bound
    }

    // MARK: Filters and tests

    mutating func filtered(_ base: Expression) throws -> Expression {
        var result = base
        while true {
            let line = self.line
            if skip(sign: "|") {
                result = try filter(of: result)
            } else if skip(name: "is") {
                let isNegated = skip(name: "not")
                let name = try expectName()
                let test = try self.test(name, line)
                if test.required > 0 {
                    throw unsupported(
                        "the test '\(name)' is for filters only; write an operator here", line)
                }
                if isName("is") { throw malformed("tests with 'is' can't be chained") }
                result = try make(.filter(result, test, []), line, result)
                if isNegated { result = try make(.not(result), line, result) }
            } else {
                return result
            }
        }
    }

    private func test(_ name: String, _ line: Int) throws -> Builtin {
        guard let test = Builtin.tests[name] else {
            throw unsupported("the test '\(name)' is not supported; there are \(known(Builtin.tests))", line)
        }
        return test
    }

    private func filter(named name: String, _ line: Int) throws -> Builtin {
        guard let filter = Builtin.filters[name] else {
            let names = Builtin.eachFilters.union(Builtin.filters.keys).sorted().joined(separator: ", ")
            throw unsupported("the filter '\(name)' is not supported; there are \(names)", line)
        }
        return filter
    }

    private mutating func filter(of base: Expression) throws -> Expression {
        let line = self.line
        let name = try expectName()
        let arguments = isSign("(") ? try self.arguments() : Arguments()
        if Builtin.eachFilters.contains(name) {
            let each = try eachFilter(name, arguments, line)
            return try make(.each(base, each), line, base, all: [each.attribute] + each.arguments)
        }
        let filter = try filter(named: name, line)
        let bound = try bind(arguments, to: filter, "the filter '\(name)'", line)
        return try make(.filter(base, filter, bound), line, base, all: bound, isMarkedSafe: name == "safe")
    }

    private func eachFilter(_ name: String, _ given: Arguments, _ line: Int) throws -> EachFilter {
        var (given, each) = (given, EachFilter())
        if name == "map" {
            if given.positional.isEmpty {
                guard given.named.first?.name == "attribute", given.named.count == 1 else {
                    throw malformed("the filter 'map' needs a filter's name or attribute=", line)
                }
                each.attribute = given.named[0].value
                return each
            }
        } else {
            each.wanted = name.hasPrefix("select")
            if name.hasSuffix("attr") {
                guard !given.positional.isEmpty else {
                    throw malformed("the filter '\(name)' needs an attribute's name", line)
                }
                each.attribute = given.positional.removeFirst()
            }
        }
        if given.positional.isEmpty, given.named.isEmpty { return each }
        guard !given.positional.isEmpty, case .string(let applied) = given.positional.removeFirst().kind
        else {
            throw unsupported("what the filter '\(name)' applies is to be named by a string", line)
        }
        let builtin = try each.wanted == nil ? filter(named: applied, line) : test(applied, line)
        each.applied = builtin
        each.arguments = try bind(given, to: builtin, "'\(applied)'", line)
        return each
    }
}
