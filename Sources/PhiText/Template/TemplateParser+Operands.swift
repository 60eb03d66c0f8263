import JSON

/// Operands: literals, brackets, names, and what follows them.
extension TemplateParser {
    /// Brackets lead back here, so this one's stack frame is kept small; the rest is in `atom`.
    @inline(never)
    mutating func primary() throws -> Expression {
        let line = currentLine
        if isSign("(") { return try parenthesized() }
        if skip(sign: "[") { return try make(.list(try items(until: "]")), line) }
        if skip(sign: "{") { return try make(.dict(try pairs()), line) }
        return try atom()
    }

    @inline(never)
    mutating func parenthesized() throws -> Expression {
        advance()
        let result = try expressionList(parenthesized: true)
        try expect(sign: ")")
        return result
    }

    @inline(never)
    mutating func atom() throws -> Expression {
        let line = currentLine
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

    @inline(never)
    mutating func items(until end: String) throws -> [Expression] {
        var result: [Expression] = []
        while !isSign(end) {
            result.append(try expression())
            if !isSign(end) { try expect(sign: ",") }
        }
        advance()
        return result
    }

    @inline(never)
    mutating func pairs() throws -> [(key: Expression, value: Expression)] {
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
    mutating func postfix(_ base: Expression) throws -> Expression {
        var result = base
        while true {
            let line = currentLine
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
                noteMember(in: result)
                return result
            }
        }
    }

    @inline(never)
    mutating func subscripted(_ base: Expression, _ line: Int) throws -> Expression {
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
    mutating func call(_ callee: Expression, _ line: Int) throws -> Expression {
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
    mutating func arguments() throws -> Arguments {
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

    func check(_ signature: Signature, _ arguments: Arguments, _ what: String, _ line: Int) throws {
        if let complaint = signature.complaint(
            positional: arguments.positional.count, named: arguments.named.map(\.name))
        {
            throw unsupported("\(what) \(complaint)", line)
        }
    }
}
