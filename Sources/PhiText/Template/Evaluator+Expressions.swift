/// The values of a call's arguments.
struct GivenArguments {
    var positional: [Value] = []
    var named: [(name: String, value: Value)] = []

    /// The values in the signature's order, nil where none is given.
    func bound(to signature: Signature) -> [Value?] {
        var result = [Value?](repeating: nil, count: signature.names.count)
        for (i, value) in positional.prefix(result.count).enumerated() { result[i] = value }
        for (name, value) in named {
            if let at = signature.names.firstIndex(of: name) { result[at] = value }
        }
        return result
    }
}

extension Evaluator {
    /// The larger cases have functions of their own, which keeps this one's stack frame small.
    func evaluate(_ expression: Expression) throws -> Value {
        try deeper {
            line = expression.line
            switch expression.kind {
            case .none: return .none
            case .bool(let value): return .bool(value)
            case .int(let value): return .int(value)
            case .double(let value): return .double(value)
            case .string(let text): return .string(text)
            case .name(let symbol): return variable(symbol)
            case .list(let items): return try made(list: try items.map(evaluate))
            case .tuple(let items): return try made(ListValue(try items.map(evaluate), .tuple))
            case .dict(let pairs): return try dict(pairs)
            case .attribute(let base, let name):
                let value = try evaluate(base)
                line = expression.line
                return try attribute(value, name)
            case .item(let base, let key): return try item(base, key, line: expression.line)
            case .slice: return try slice(expression)
            case .call(let callee, let arguments):
                return try call(callee, arguments, line: expression.line)
            case .filter(let base, let filter): return try apply(filter, to: try evaluate(base))
            case .test(let base, let name, let arguments):
                return try test(base, name, arguments, line: expression.line)
            case .not(let operand): return .bool(!(try isTrue(try evaluate(operand))))
            case .negate(let operand): return try negated(try evaluate(operand))
            case .binary(let sign, let left, let right):
                return try binary(sign, left, right, line: expression.line)
            case .and(let left, let right):
                let value = try evaluate(left)
                return try isTrue(value) ? try evaluate(right) : value
            case .or(let left, let right):
                let value = try evaluate(left)
                return try isTrue(value) ? value : try evaluate(right)
            case .compare(let first, let rest):
                return try comparison(first, rest, line: expression.line)
            case .concat(let parts): return try concat(parts)
            case .conditional(let test, let then, let otherwise):
                if try isTrue(try evaluate(test)) { return try evaluate(then) }
                if let otherwise { return try evaluate(otherwise) }
                return .undefined(
                    Undefined("the condition is false and there is no 'else'", isIntended: true))
            }
        }
    }

    @inline(never)
    func values(_ arguments: Arguments) throws -> GivenArguments {
        GivenArguments(
            positional: try arguments.positional.map(evaluate),
            named: try arguments.named.map { ($0.name, try evaluate($0.value)) })
    }

    @inline(never)
    private func dict(_ pairs: [(key: Expression, value: Expression)]) throws -> Value {
        var members = OrderedMembers()
        for pair in pairs {
            let original = try evaluate(pair.key)
            members.set(try key(original), original, try evaluate(pair.value))
        }
        return try made(DictValue(members))
    }

    func key(_ value: Value) throws -> DictKey {
        if case .string(let text) = value { try spend(text: text) }
        guard let key = DictKey(value) else { throw fault("\(value.typeName) can't be a key") }
        return key
    }

    @inline(never)
    private func concat(_ parts: [Expression]) throws -> Value {
        var result = ""
        for part in parts {
            let text = try string(try evaluate(part))
            try checkText(result.utf8.count + text.utf8.count)
            try spend(copying: text.utf8.count)
            result += text
        }
        return .string(result)
    }

    @inline(never)
    private func test(_ base: Expression, _ name: TestName, _ arguments: Arguments, line: Int) throws -> Value
    {
        let value = try evaluate(base)
        let given = try values(arguments)
        self.line = line
        return .bool(try test(name, value, given))
    }

    @inline(never)
    private func binary(
        _ sign: BinaryOperator, _ left: Expression, _ right: Expression, line: Int
    ) throws -> Value {
        let a = try evaluate(left)
        let b = try evaluate(right)
        self.line = line
        return try compute(sign, a, b)
    }

    @inline(never)
    private func comparison(
        _ first: Expression, _ rest: [(CompareOperator, Expression)], line: Int
    ) throws -> Value {
        var left = try evaluate(first)
        for (sign, expression) in rest {
            let right = try evaluate(expression)
            self.line = line
            if !(try compare(left, sign, right)) { return .bool(false) }
            left = right
        }
        return .bool(true)
    }

    // MARK: Calls

    @inline(never)
    private func call(_ callee: Expression, _ arguments: Arguments, line: Int) throws -> Value {
        let function = try evaluate(callee)
        let given = try values(arguments)
        self.line = line
        switch function {
        case .undefined(let reason): throw fault(reason.message)
        case .macro(let macro): return try call(macro, given)
        case .function(let name):
            try check(name.signature, given, "the function '\(name.rawValue)'")
            return try call(name, given)
        case .method(let name, let receiver):
            try check(name.signature, given, "the method '\(name.rawValue)'")
            return try call(name, of: receiver, given)
        default: throw fault("\(function.typeName) can't be called")
        }
    }

    func check(_ signature: Signature, _ given: GivenArguments, _ what: String) throws {
        if let complaint = signature.complaint(
            positional: given.positional.count, named: given.named.map(\.name))
        {
            throw fault("\(what) \(complaint)")
        }
    }
}
