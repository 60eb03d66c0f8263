/// Operators, by how tightly they bind.
extension TemplateParser {
    /// One expression, or several with commas between, which make a tuple.
    /// - Parameters:
    ///   - conditionals: Whether `a if b else c` is read (in `for` and `if` tags it is not).
    ///   - end: A name that ends the list.
    ///   - parenthesized: Whether nothing at all is an empty tuple.
    @inline(never)
    mutating func expressionList(
        conditionals: Bool = true, end: String? = nil, parenthesized: Bool = false
    ) throws -> Expression {
        let line = currentLine
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

    @inline(never)
    func isListEnd(_ end: String?) -> Bool {
        current.kind == .variableEnd || current.kind == .blockEnd || isSign(")")
            || end.map { isName($0) } == true
    }

    /// A full expression, conditionals included.
    @inline(never)
    mutating func expression() throws -> Expression {
        let line = currentLine
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
        guard result.height <= limits.height else {
            throw unsupported("an expression is more than \(limits.height) levels deep", line)
        }
        return result
    }

    // MARK: Operators

    enum Infix {
        case or, and
        case compare(CompareOperator)
        case arithmetic(BinaryOperator)
        case concat

        /// Precedence. `not` stands between `and` and comparisons, at 3.
        var strength: Int {
            switch self {
            case .or: 1
            case .and: 2
            case .compare: 4
            case .arithmetic(.add), .arithmetic(.subtract): 5
            case .concat: 6
            case .arithmetic: 7
            }
        }
    }

    /// The operator at hand, if it binds tighter than `strength`.
    @inline(never)
    func infix(above strength: Int) -> Infix? {
        infix().flatMap { $0.strength > strength ? $0 : nil }
    }

    @inline(never)
    func infix() -> Infix? {
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
    @inline(never)
    mutating func binary(above strength: Int) throws -> Expression {
        try nested { try $0.operators(above: strength) }
    }

    @inline(never)
    mutating func operators(above strength: Int) throws -> Expression {
        let line = currentLine
        var left: Expression
        if strength < 3, isName("not") {
            advance()
            left = try make(.not(try negated()), line)
        } else {
            left = try unary(filters: true)
        }
        while let infix = infix(above: strength) { left = try combined(left, infix, line) }
        if isSign("**") { throw unsupported("the operator '**' is not supported") }
        return left
    }

    @inline(never)
    mutating func combined(_ left: Expression, _ infix: Infix, _ line: Int) throws -> Expression {
        switch infix {
        case .or:
            advance()
            return try make(.or(left, try binary(above: 1)), line)
        case .and:
            advance()
            return try make(.and(left, try binary(above: 2)), line)
        case .arithmetic(let sign):
            advance()
            let right = try binary(above: infix.strength)
            // Jinja escapes what is added to marked text.
            if sign == .add, left.isMarkedSafe || right.isMarkedSafe {
                throw unsupported("'+' beside the filter 'safe' is not supported; '~' is", line)
            }
            return try make(.binary(sign, left, right), line)
        case .concat:
            var parts = [left]
            while skip(sign: "~") { parts.append(try binary(above: infix.strength)) }
            return try make(.concat(parts), line)
        case .compare: return try comparison(left, line)
        }
    }

    /// Parses what follows `not`: another `not`, or an expression of comparisons and tighter operators.
    @inline(never)
    mutating func negated() throws -> Expression {
        try nested { parser in
            let line = parser.currentLine
            if parser.skip(name: "not") { return try parser.make(.not(try parser.negated()), line) }
            return try parser.operators(above: 3)
        }
    }

    @inline(never)
    mutating func comparison(_ left: Expression, _ line: Int) throws -> Expression {
        var rest: [(CompareOperator, Expression)] = []
        while case .compare(let sign) = infix() {
            advance()
            if sign == .notIn { advance() }
            rest.append((sign, try binary(above: 4)))
        }
        return try make(.compare(left, rest), line)
    }

    @inline(never)
    mutating func unary(filters: Bool) throws -> Expression {
        let sign = isSign("-")
        let result = try postfix(sign ? try signed() : try primary())
        return filters ? try filtered(result) : result
    }

    @inline(never)
    mutating func signed() throws -> Expression {
        let line = currentLine
        advance()
        let operand = try nested { try $0.unary(filters: false) }
        return try make(.negate(operand), line)
    }
}
