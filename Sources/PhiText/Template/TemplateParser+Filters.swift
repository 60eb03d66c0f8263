/// Filters and tests.
extension TemplateParser {
    @inline(never)
    mutating func filtered(_ base: Expression) throws -> Expression {
        var result = base
        while true {
            let line = currentLine
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

    @inline(never)
    mutating func filterCall() throws -> FilterCall {
        let line = currentLine
        let name = try expectName()
        guard let filter = FilterName(rawValue: name) else {
            throw unsupported("the filter '\(name)' is not supported", line)
        }
        let arguments = isSign("(") ? try self.arguments() : Arguments()
        try check(filter.signature, arguments, "the filter '\(name)'", line)
        try checkNamedFunction(filter, arguments, line)
        return FilterCall(name: filter, arguments: arguments, line: line)
    }

    /// `map`, `select` and their like name another filter or test; if that is written out, check it now.
    func checkNamedFunction(_ filter: FilterName, _ arguments: Arguments, _ line: Int) throws {
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
    mutating func test(_ base: Expression, _ line: Int) throws -> Expression {
        let negated = skip(name: "not")
        let name = try expectName()
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

    var beginsTestArgument: Bool {
        switch current.kind {
        case .name(let name): name != "else" && name != "or" && name != "and"
        case .string, .int, .double, .sign("("), .sign("["), .sign("{"): true
        default: false
        }
    }
}
