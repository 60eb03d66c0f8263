import JSON

/// Evaluation of expressions: operators, attributes, items and slices.
extension Evaluator {
    /// Larger cases have their own functions, to keep this one's stack frame small.
    func evaluate(_ expression: Expression) throws -> Value {
        try deeper {
            // Parts change the line for messages; it is restored after them.
            let outer = line
            line = expression.line
            let value = try self.value(of: expression.kind)
            line = outer
            return value
        }
    }

    private func value(of kind: Expression.Form) throws -> Value {
        switch kind {
        case .none: return .none
        case .bool(let value): return .bool(value)
        case .int(let value): return .int(value)
        case .double(let value): return .double(value)
        case .string(let text): return .string(text)
        case .name(let symbol): return variable(symbol)
        case .list(let items, let kind): return try made(try items.map(evaluate), kind)
        case .dict(let pairs): return try dict(pairs)
        case .attribute(let base, let name): return try attribute(try evaluate(base), name)
        case .item(let base, let key): return try item(try evaluate(base), try evaluate(key))
        case .slice(let base, let start, let stop, let step):
            return try slice(try evaluate(base), start: start, stop: stop, step: step)
        case .call(let symbol, let arguments): return try call(symbol, arguments)
        case .method(let base, let name, let method, let arguments):
            return try call(method, name, of: try evaluate(base), arguments)
        case .filter(let base, let builtin, let arguments):
            return try apply(builtin, to: try evaluate(base), try values(arguments))
        case .each(let base, let each): return try apply(each, to: try evaluate(base))
        case .not(let operand): return .bool(!(try isTrue(try evaluate(operand))))
        case .negate(let operand): return try negated(try evaluate(operand))
        case .binary(.and, let left, let right):
            let value = try evaluate(left)
            return try isTrue(value) ? try evaluate(right) : value
        case .binary(.or, let left, let right):
            let value = try evaluate(left)
            return try isTrue(value) ? value : try evaluate(right)
        case .binary(let sign, let left, let right):
            return try compute(sign, try evaluate(left), try evaluate(right))
        case .conditional(let test, let then, let otherwise):
            if try isTrue(try evaluate(test)) { return try evaluate(then) }
            if let otherwise { return try evaluate(otherwise) }
            return .undefined("the condition is false and there is no 'else'", isIntended: true)
        }
    }

    func values(_ arguments: [Expression?]) throws -> [Value?] { try arguments.map { try $0.map(evaluate) } }

    private func dict(_ pairs: [(key: Expression, value: Expression)]) throws -> Value {
        var members = OrderedMembers()
        for pair in pairs {
            let original = try evaluate(pair.key)
            members.set(try key(original), original, try evaluate(pair.value))
        }
        return try made(members)
    }

    func key(_ value: Value) throws -> DictKey {
        if case .string(let text) = value { try spend(bytes: text.utf8.count, per: 16) }
        guard let key = DictKey(value) else { throw fault("\(value.typeName) can't be a key") }
        return key
    }

    // MARK: Attributes, items and slices

    /// Evaluates `value.name`: methods first, then members.
    private func attribute(_ value: Value, _ name: String) throws -> Value {
        if let found = try property(value, name) { return found }
        if case .dict(let dict) = value, let member = dict.members[name] { return member }
        return missing(value, "attribute '\(name)'")
    }

    /// Returns the result of Python's `getattr`: methods, and members of namespaces and loops.
    private func property(_ value: Value, _ name: String) throws -> Value? {
        switch value {
        case .undefined(let reason, _): throw fault(reason)
        case .namespace(let namespace): return namespace.members[name]
        case .loop(let loop):
            guard let member = LoopState.members[name] else { throw fault("'loop' has no '\(name)' here") }
            return member(loop)
        default: return Builtin.methods[name]?.belongs(to: value) == true ? .callable : nil
        }
    }

    private func missing(_ value: Value, _ what: String) -> Value {
        .undefined("\(value.typeName) has no \(what)")
    }

    /// Evaluates `value[key]`: members first, then methods.
    func item(_ value: Value, _ key: Value) throws -> Value {
        switch value {
        case .undefined(let reason, _): throw fault(reason)
        case .dict(let dict):
            if let key = DictKey(key), let member = dict.members[key] { return member }
        case .list(let list) where list.isPlain || list.kind == .range:
            if let index = key.integer {
                let at = index < 0 ? index + list.items.count : index
                if list.items.indices.contains(at) { return list.items[at] }
            }
        case .string(let text):
            if let index = key.integer {
                try spend(bytes: text.utf8.count, per: 16)
                let scalars = Array(text.unicodeScalars)
                let at = index < 0 ? index + scalars.count : index
                if scalars.indices.contains(at) { return .string(String(scalars[at])) }
            }
        default: break
        }
        if let name = key.text { return try property(value, name) ?? missing(value, "attribute '\(name)'") }
        return missing(value, key.integer.map { "element \($0)" } ?? "element at \(key.typeName)")
    }

    private func slice(_ value: Value, start: Expression?, stop: Expression?, step: Expression?) throws
        -> Value
    {
        let bounds = try values([start, stop, step]).map { bound -> Int? in
            guard let bound, !bound.isNone else { return nil }
            return try integer(bound, "slice")
        }
        switch value {
        case .undefined(let reason, _): throw fault(reason)
        case .list(let list) where list.isPlain:
            let indices = try indices(list.items.count, bounds)
            return try made(indices.map { list.items[$0] }, list.kind)
        case .string(let text):
            try spend(bytes: text.utf8.count, per: 16)
            let scalars = Array(text.unicodeScalars)
            return .string(PythonText.string(try indices(scalars.count, bounds).map { scalars[$0] }))
        default: throw fault("\(value.typeName) has no slices")
        }
    }

    /// Returns the indices of a Python slice of `count` elements.
    private func indices(_ count: Int, _ bounds: [Int?]) throws -> [Int] {
        let step = bounds[2] ?? 1
        guard step != 0 else { throw fault("a slice can't have step 0") }
        let (lowest, highest) = step < 0 ? (-1, count - 1) : (0, count)
        func clamp(_ bound: Int) -> Int {
            // `count` is a size in memory, so the sum can't overflow for a negative bound.
            min(max(bound < 0 ? bound + count : bound, lowest), highest)
        }
        let start = bounds[0].map(clamp) ?? (step < 0 ? highest : lowest)
        return Array(
            stride(from: start, to: bounds[1].map(clamp) ?? (step < 0 ? lowest : highest), by: step))
    }

    // MARK: Filters, tests and methods

    private func apply(_ builtin: Builtin, to value: Value, _ arguments: [Value?]) throws -> Value {
        if !builtin.takesMissing { try refuseIfStrict(value) }
        return try builtin.code(self, value, arguments)
    }

    private func apply(_ each: EachFilter, to value: Value) throws -> Value {
        try refuseIfStrict(value)
        let path = try each.attribute.map { try self.path(try evaluate($0)) } ?? []
        let arguments = try values(each.arguments)
        var kept: [Value] = []
        for item in try iterate(value) {
            try spend(2)
            var outcome = try follow(path, item)
            if let applied = each.applied {
                outcome = try deeper { try apply(applied, to: outcome, arguments) }
            }
            if let wanted = each.wanted {
                if try isTrue(outcome) == wanted { kept.append(item) }
            } else {
                kept.append(outcome)
            }
        }
        return try made(kept, .generator)
    }

    private func call(
        _ method: Builtin, _ name: String, of value: Value, _ arguments: [Expression?]
    ) throws -> Value {
        try refuseUndefined(value)
        let arguments = try values(arguments)
        for case let argument? in arguments { try refuseIfStrict(argument) }
        guard method.belongs(to: value) else { throw fault("\(value.typeName) has no method '\(name)'") }
        return try method.code(self, value, arguments)
    }

    /// Returns the keys of an attribute such as "a.b.0".
    func path(_ value: Value?) throws -> [Value] {
        guard let value, !value.isNone else { return [] }
        if let index = value.integer { return [.int(index)] }
        return PythonText.split(try needed(value), ".").map { Int($0).map(Value.int) ?? .string($0) }
    }

    func follow(_ path: [Value], _ value: Value) throws -> Value {
        try path.reduce(value) {
            try spend(2)
            return try item($0, $1)
        }
    }

    // MARK: Operators

    /// Truth of a value, as in Python.
    func isTrue(_ value: Value) throws -> Bool {
        switch value {
        case .undefined, .none: false
        case .bool(let value): value
        case .int(let value): value != 0
        case .double(let value): value != 0
        case .written(let number): !ExactNumber(number).isZero
        case .string(let text): !text.isEmpty
        case .list(let list): list.kind == .generator || !list.items.isEmpty
        case .dict(let dict): dict.members.count > 0
        case .namespace, .macro, .loop, .callable: true
        }
    }

    func refuseIfStrict(_ value: Value) throws {
        if strict, case .undefined(let reason, isIntended: false) = value { throw fault(reason) }
    }

    func refuseUndefined(_ value: Value) throws {
        if case .undefined(let reason, _) = value { throw fault(reason) }
    }

    private func tooLarge() -> any Error { fault("a number is too large for 64 bits") }

    private func negated(_ value: Value) throws -> Value {
        try refuseUndefined(value)
        guard let number = value.number else { throw fault("\(value.typeName) has no sign") }
        if value.isFarInteger || value.integer == .min { throw tooLarge() }
        return value.integer.map { .int(-$0) } ?? .double(-number)
    }

    private func compute(_ sign: BinaryOperator, _ a: Value, _ b: Value) throws -> Value {
        switch sign {
        case .or, .and: preconditionFailure("not computed of values")
        case .equal: return .bool(try isEqual(a, b))
        case .notEqual: return .bool(!(try isEqual(a, b)))
        case .isIn: return .bool(try contains(b, a))
        case .notIn: return .bool(!(try contains(b, a)))
        case .less: return .bool(try order(a, b).map { $0 < 0 } ?? false)
        case .lessOrEqual: return .bool(try order(a, b).map { $0 <= 0 } ?? false)
        case .greater: return .bool(try order(a, b).map { $0 > 0 } ?? false)
        case .greaterOrEqual: return .bool(try order(a, b).map { $0 >= 0 } ?? false)
        case .concat: return .string(try appended(try string(a), try string(b)))
        case .add, .subtract, .multiply, .modulo: break
        }
        try refuseUndefined(a)
        try refuseUndefined(b)
        if let x = a.integer, let y = b.integer { return try compute(sign, x, y) }
        if let x = a.number, let y = b.number {
            // Rounded, they would be different integers.
            if a.isFarInteger || b.isFarInteger { throw tooLarge() }
            switch sign {
            case .add: return .double(x + y)
            case .subtract: return .double(x - y)
            case .multiply: return .double(x * y)
            default: throw fault("'%' works on integers only")
            }
        }
        switch (sign, a, b) {
        case (.add, .string(let x), .string(let y)): return .string(try appended(x, y))
        case (.add, .list(let x), .list(let y)) where x.kind == .list && y.kind == .list:
            return try made(x.items + y.items)
        case (.multiply, .string(let text), let count), (.multiply, let count, .string(let text)):
            if let count = count.integer { return .string(try repeated(text, count)) }
        case (.multiply, .list, _), (.multiply, _, .list):
            throw fault("'*' repeats strings only, not lists")
        case (.modulo, .string, _): throw fault("'%' works on integers only; join texts with '~'")
        default: break
        }
        throw fault("'\(sign.rawValue)' does not work on \(a.typeName) and \(b.typeName)")
    }

    private func compute(_ sign: BinaryOperator, _ a: Int, _ b: Int) throws -> Value {
        var result: (partialValue: Int, overflow: Bool)
        switch sign {
        case .add: result = a.addingReportingOverflow(b)
        case .subtract: result = a.subtractingReportingOverflow(b)
        case .multiply: result = a.multipliedReportingOverflow(by: b)
        default:
            guard b != 0 else { throw fault("a number is divided by zero") }
            result = (a.remainderReportingOverflow(dividingBy: b).partialValue, false)
            if result.partialValue != 0, (result.partialValue < 0) != (b < 0) { result.partialValue += b }
        }
        if result.overflow { throw tooLarge() }
        return .int(result.partialValue)
    }

    private func appended(_ a: String, _ b: String) throws -> String {
        try checkText(a.utf8.count + b.utf8.count)
        try spend(bytes: a.utf8.count + b.utf8.count, per: 128)
        return a + b
    }

    private func repeated(_ text: String, _ count: Int) throws -> String {
        let (bytes, overflow) = text.utf8.count.multipliedReportingOverflow(by: max(count, 0))
        try checkText(overflow ? .max : bytes)
        try spend(bytes: bytes, per: 16)
        return bytes == 0 ? "" : String(repeating: text, count: count)
    }
}
