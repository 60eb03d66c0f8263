extension TemplateParser {
    /// One expression, or several with commas between, which make a tuple.
    /// - Parameters:
    ///   - conditionals: Whether `a if b else c` is read (in `for` and `if` tags it is not).
    ///   - end: A name that ends the list.
    ///   - parenthesized: Whether nothing at all is an empty tuple.
    mutating func expressionList(
        conditionals: Bool = true, end: String? = nil, parenthesized: Bool = false
    ) throws -> Expression {
        let line = current.line
        var items: [Expression] = []
        while true {
            if isListEnd(end) {
                if items.isEmpty && !parenthesized { throw unexpected("an expression") }
                return try make(.tuple(items), line)
            }
            items.append(conditionals ? try expression() : try binary(above: 0))
            if !skip(sign: ",") { break }
        }
        return items.count == 1 ? items[0] : try make(.tuple(items), line)
    }

    private func isListEnd(_ end: String?) -> Bool {
        current.kind == .variableEnd || current.kind == .blockEnd || isSign(")")
            || end.map { isName($0) } == true
    }

    /// A full expression, conditionals included.
    mutating func expression() throws -> Expression {
        let line = current.line
        var result = try binary(above: 0)
        while skip(name: "if") {
            let test = try binary(above: 0)
            let otherwise = skip(name: "else") ? try nested { try $0.expression() } : nil
            result = try make(.conditional(test: test, then: result, otherwise: otherwise), line)
        }
        return result
    }

    @inline(never)
    func make(_ kind: Expression.Kind, _ line: Int) throws -> Expression {
        let result = Expression(kind, line: line)
        guard result.height <= limits.nesting else {
            throw unsupported("an expression is nested more than \(limits.nesting) levels deep", line)
        }
        return result
    }

    // MARK: Operators

    private enum Infix {
        case or, and
        case compare(CompareOperator)
        case arithmetic(BinaryOperator)
        case concat

        /// How tightly it binds. `not` stands between `and` and comparisons, at 3.
        var strength: Int {
            switch self {
            case .or: 1
            case .and: 2
            case .compare: 4
            case .arithmetic(.add), .arithmetic(.subtract): 5
            case .concat: 6
            case .arithmetic(.power): 8
            case .arithmetic: 7
            }
        }
    }

    @inline(never)
    private func infix() -> Infix? {
        switch current.kind {
        case .name("or"): .or
        case .name("and"): .and
        case .name("in"): .compare(.isIn)
        case .name("not") where following.kind == .name("in"): .compare(.notIn)
        case .sign("~"): .concat
        case .sign(let sign):
            CompareOperator(rawValue: sign).map(Infix.compare)
                ?? BinaryOperator(rawValue: sign).map(Infix.arithmetic)
        default: nil
        }
    }

    /// An expression of operators that bind tighter than `strength`; all group from the left.
    private mutating func binary(above strength: Int) throws -> Expression {
        try nested { try $0.operators(above: strength) }
    }

    private mutating func operators(above strength: Int) throws -> Expression {
        let line = current.line
        var left: Expression
        if strength < 3, isName("not") {
            advance()
            left = try make(.not(try negated()), line)
        } else {
            left = try unary(filters: true)
        }
        while let infix = infix(), infix.strength > strength {
            switch infix {
            case .or:
                advance()
                left = try make(.or(left, try binary(above: 1)), line)
            case .and:
                advance()
                left = try make(.and(left, try binary(above: 2)), line)
            case .arithmetic(let sign):
                advance()
                left = try make(.binary(sign, left, try binary(above: infix.strength)), line)
            case .concat:
                var parts = [left]
                while skip(sign: "~") { parts.append(try binary(above: infix.strength)) }
                left = try make(.concat(parts), line)
            case .compare:
                left = try comparison(left, line)
            }
        }
        return left
    }

    /// What follows `not`: another `not`, or an expression of comparisons and tighter operators.
    private mutating func negated() throws -> Expression {
        try nested { parser in
            let line = parser.current.line
            if parser.skip(name: "not") { return try parser.make(.not(try parser.negated()), line) }
            return try parser.operators(above: 3)
        }
    }

    @inline(never)
    private mutating func comparison(_ left: Expression, _ line: Int) throws -> Expression {
        var rest: [(CompareOperator, Expression)] = []
        while case .compare(let sign) = infix() {
            advance()
            if sign == .notIn { advance() }
            rest.append((sign, try binary(above: 4)))
        }
        return try make(.compare(left, rest), line)
    }

    private mutating func unary(filters: Bool) throws -> Expression {
        let line = current.line
        var result: Expression
        if isSign("-") || isSign("+") {
            let negates = isSign("-")
            advance()
            let operand = try nested { try $0.unary(filters: false) }
            result = try make(negates ? .negate(operand) : .plus(operand), line)
        } else {
            result = try primary()
        }
        result = try postfix(result)
        return filters ? try filtered(result) : result
    }

    // MARK: Operands

    /// Brackets lead back here, so this one's stack frame is kept small; the rest is in `atom`.
    private mutating func primary() throws -> Expression {
        let line = current.line
        if skip(sign: "(") {
            let result = try expressionList(parenthesized: true)
            try expect(sign: ")")
            return result
        }
        if skip(sign: "[") { return try make(.list(try items(until: "]")), line) }
        if skip(sign: "{") { return try make(.dict(try pairs()), line) }
        return try atom()
    }

    @inline(never)
    private mutating func atom() throws -> Expression {
        let line = current.line
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

    @inline(never)
    private mutating func pairs() throws -> [(key: Expression, value: Expression)] {
        var result: [(key: Expression, value: Expression)] = []
        while !isSign("}") {
            let key = try expression()
            try expect(sign: ":")
            result.append((key, try expression()))
            if !isSign("}") { try expect(sign: ",") }
        }
        advance()
        return result
    }

    @inline(never)
    private mutating func postfix(_ base: Expression) throws -> Expression {
        var result = base
        while true {
            let line = current.line
            if skip(sign: ".") {
                if case .int(let index) = current.kind {
                    advance()
                    result = try make(.item(result, try make(.int(index), line)), line)
                } else {
                    result = try make(.attribute(result, try expectName()), line)
                }
            } else if skip(sign: "[") {
                result = try subscripted(result, line)
            } else if isSign("(") {
                result = try call(result, line)
            } else {
                return result
            }
        }
    }

    @inline(never)
    private mutating func subscripted(_ base: Expression, _ line: Int) throws -> Expression {
        if isSign("]") { throw unexpected("an index") }
        let start = isSign(":") ? nil : try expression()
        if skip(sign: ":") {
            let stop = isSign(":") || isSign("]") ? nil : try expression()
            let step = skip(sign: ":") && !isSign("]") ? try expression() : nil
            if isSign(",") { throw unsupported("several indexes in one pair of brackets are not supported") }
            try expect(sign: "]")
            return try make(.slice(base, start: start, stop: stop, step: step), line)
        }
        guard let start else { throw unexpected("an index") }
        if isSign(",") { throw unsupported("several indexes in one pair of brackets are not supported") }
        try expect(sign: "]")
        return try make(.item(base, start), line)
    }

    @inline(never)
    private mutating func call(_ callee: Expression, _ line: Int) throws -> Expression {
        let arguments = try self.arguments()
        switch callee.kind {
        case .name(let symbol):
            noteCall(symbol, line: line)
        case .attribute(let base, let name):
            if case .name(let symbol) = base.kind, names[symbol] == "self" { noteCall(symbol, line: line) }
            guard let method = MethodName(rawValue: name) else {
                throw unsupported("the method '\(name)' is not supported", line)
            }
            try check(method.signature, arguments, "the method '\(name)'", line)
        default: break
        }
        return try make(.call(callee, arguments), line)
    }

    /// Arguments in parentheses, from the opening one on.
    @inline(never)
    private mutating func arguments() throws -> Arguments {
        var result = Arguments()
        try expect(sign: "(")
        while !isSign(")") {
            if isSign("*") || isSign("**") {
                throw unsupported("arguments from a list or dict ('*', '**') are not supported")
            }
            if case .name(let name) = current.kind, following.kind == .sign("=") {
                if result.named.contains(where: { sameBytes($0.name, name) }) {
                    throw malformed("the argument '\(name)' is given twice")
                }
                advance()
                advance()
                result.named.append((name, try expression()))
            } else {
                if !result.named.isEmpty {
                    throw malformed("an argument without a name follows one with a name")
                }
                result.positional.append(try expression())
            }
            if !isSign(")") { try expect(sign: ",") }
        }
        advance()
        return result
    }

    private func check(_ signature: Signature, _ arguments: Arguments, _ what: String, _ line: Int) throws {
        if let complaint = signature.complaint(
            positional: arguments.positional.count, named: arguments.named.map(\.name))
        {
            throw unsupported("\(what) \(complaint)", line)
        }
    }

    // MARK: Filters and tests

    @inline(never)
    private mutating func filtered(_ base: Expression) throws -> Expression {
        var result = base
        while true {
            let line = current.line
            if skip(sign: "|") {
                let filter = try filterCall()
                result = try make(.filter(result, filter), filter.line)
            } else if skip(name: "is") {
                result = try test(result, line)
            } else if isSign("(") {
                result = try call(result, line)
            } else {
                return result
            }
        }
    }

    /// Filters without a value before them, as in `{% filter upper %}` and `{% set x | trim %}`.
    mutating func filterChain(startsInline: Bool) throws -> [FilterCall] {
        var result: [FilterCall] = []
        if startsInline { result.append(try filterCall()) }
        while skip(sign: "|") { result.append(try filterCall()) }
        guard result.count <= limits.nesting else { throw unsupported("there are too many filters here") }
        return result
    }

    @inline(never)
    private mutating func filterCall() throws -> FilterCall {
        let line = current.line
        let name = try dottedName()
        guard let filter = FilterName(rawValue: name) else {
            throw unsupported("the filter '\(name)' is not supported", line)
        }
        let arguments = isSign("(") ? try self.arguments() : Arguments()
        try check(filter.signature, arguments, "the filter '\(name)'", line)
        try checkNamedFunction(filter, arguments, line)
        return FilterCall(name: filter, arguments: arguments, line: line)
    }

    /// `map`, `select` and their like name another filter or test; if that is written out, check it now.
    private func checkNamedFunction(_ filter: FilterName, _ arguments: Arguments, _ line: Int) throws {
        let at: Int
        switch filter {
        case .map, .select, .reject: at = 0
        case .selectattr, .rejectattr: at = 1
        default: return
        }
        if filter == .map, arguments.positional.isEmpty {
            for (name, _) in arguments.named where name != "attribute" && name != "default" {
                throw unsupported("the filter 'map' has no argument '\(name)'", line)
            }
            guard arguments.named.contains(where: { $0.name == "attribute" }) else {
                throw malformed("the filter 'map' needs a filter's name or attribute=", line)
            }
            return
        }
        if at == 1, arguments.positional.isEmpty {
            throw malformed("the filter '\(filter.rawValue)' needs an attribute's name", line)
        }
        guard arguments.positional.count > at, case .string(let name) = arguments.positional[at].kind else {
            return
        }
        let signature: Signature
        if filter == .map {
            guard let named = FilterName(rawValue: name) else {
                throw unsupported("the filter '\(name)' is not supported", line)
            }
            signature = named.signature
        } else {
            guard let named = TestName(rawValue: name) else {
                throw unsupported("the test '\(name)' is not supported", line)
            }
            signature = named.signature
        }
        let rest = Arguments(
            positional: Array(arguments.positional.dropFirst(at + 1)), named: arguments.named)
        try check(signature, rest, "'\(name)'", line)
    }

    @inline(never)
    private mutating func test(_ base: Expression, _ line: Int) throws -> Expression {
        let negated = skip(name: "not")
        let name = try dottedName()
        guard let test = TestName(rawValue: name) else {
            throw unsupported("the test '\(name)' is not supported", line)
        }
        var arguments = Arguments()
        if isSign("(") {
            arguments = try self.arguments()
        } else if beginsTestArgument {
            if isName("is") { throw malformed("tests with 'is' can't be chained") }
            arguments.positional = [try postfix(try primary())]
        }
        try check(test.signature, arguments, "the test '\(name)'", line)
        let result = try make(.test(base, test, arguments), line)
        return negated ? try make(.not(result), line) : result
    }

    private var beginsTestArgument: Bool {
        switch current.kind {
        case .name(let name): name != "else" && name != "or" && name != "and"
        case .string, .int, .double, .sign("("), .sign("["), .sign("{"): true
        default: false
        }
    }

    private mutating func dottedName() throws -> String {
        var name = try expectName()
        while skip(sign: ".") { name += "." + (try expectName()) }
        return name
    }
}
