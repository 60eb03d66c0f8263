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
            case .negate(let operand): return try signed(try evaluate(operand), negative: true)
            case .plus(let operand): return try signed(try evaluate(operand), negative: false)
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
            try spend(text: text)
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

    // MARK: Attributes, items, slices

    /// `value.name`: methods first, then members.
    @inline(never)
    func attribute(_ value: Value, _ name: String) throws -> Value {
        if let found = try property(value, name) { return found }
        if case .dict(let dict) = value, let member = dict.members[name] { return member }
        return missing(value, "attribute '\(name)'")
    }

    /// What Python's `getattr` finds: methods, and the members of namespaces and loops.
    private func property(_ value: Value, _ name: String) throws -> Value? {
        switch value {
        case .undefined(let reason): throw fault(reason.message)
        case .namespace(let namespace): return namespace.members[name]
        case .loop(let loop):
            if let found = loopProperty(loop, name) { return found }
        default: break
        }
        if let method = MethodName(rawValue: name), method.belongs(to: value) {
            return .method(BoundMethod(value, method))
        }
        return nil
    }

    private func loopProperty(_ loop: LoopState, _ name: String) -> Value? {
        let count = loop.items.count
        switch name {
        case "index": return .int(loop.index + 1)
        case "index0": return .int(loop.index)
        case "revindex": return .int(count - loop.index)
        case "revindex0": return .int(count - loop.index - 1)
        case "first": return .bool(loop.index == 0)
        case "last": return .bool(loop.index == count - 1)
        case "length": return .int(count)
        case "depth": return .int(1)
        case "depth0": return .int(0)
        case "previtem":
            return loop.index > 0
                ? loop.items[loop.index - 1] : .undefined(Undefined("there is no previous item"))
        case "nextitem":
            return loop.index + 1 < count
                ? loop.items[loop.index + 1] : .undefined(Undefined("there is no next item"))
        default: return nil
        }
    }

    private func missing(_ value: Value, _ what: String) -> Value {
        .undefined(Undefined("\(value.typeName) has no \(what)"))
    }

    @inline(never)
    private func item(_ base: Expression, _ key: Expression, line: Int) throws -> Value {
        let value = try evaluate(base)
        let index = try evaluate(key)
        self.line = line
        return try item(value, index)
    }

    /// `value[key]`: members first, then methods.
    func item(_ value: Value, _ key: Value) throws -> Value {
        switch value {
        case .undefined(let reason): throw fault(reason.message)
        case .dict(let dict):
            if let key = DictKey(key), let member = dict.members[key] { return member }
        case .list(let list) where !list.isView:
            if let index = key.integer {
                let at = index < 0 ? index + list.items.count : index
                if list.items.indices.contains(at) { return list.items[at] }
            }
        case .string(let text), .markup(let text):
            if let index = key.integer, let scalar = try scalar(of: text, at: index) {
                if case .markup = value { return .markup(String(scalar)) }
                return .string(String(scalar))
            }
        default: break
        }
        if let name = key.text {
            if let found = try property(value, name) { return found }
            return missing(value, "attribute '\(name)'")
        }
        if let index = key.integer { return missing(value, "element \(index)") }
        return missing(value, "element at \(key.typeName)")
    }

    private func scalar(of text: String, at index: Int) throws -> Unicode.Scalar? {
        try spend(text: text)
        let scalars = text.unicodeScalars
        // Every code point takes at least a byte, so a larger index can't be inside.
        guard index.magnitude <= UInt(text.utf8.count) else { return nil }
        return index < 0
            ? scalars.suffix(-index).count == -index ? scalars.suffix(-index).first : nil
            : scalars.dropFirst(index).first
    }

    @inline(never)
    private func slice(_ expression: Expression) throws -> Value {
        guard case .slice(let base, let start, let stop, let step) = expression.kind else {
            preconditionFailure("not a slice")
        }
        let value = try evaluate(base)
        func bound(_ bound: Expression?) throws -> Int? {
            guard let bound else { return nil }
            let value = try evaluate(bound)
            if case .none = value { return nil }
            guard let index = value.integer else {
                throw fault("a slice needs integers, not \(value.typeName)")
            }
            return index
        }
        let bounds = (try bound(start), try bound(stop), try bound(step))
        line = expression.line
        switch value {
        case .undefined(let reason): throw fault(reason.message)
        case .list(let list) where !list.isView:
            let range = try SliceRange(list.items.count, bounds, self)
            if case .range(let first, _, let stride) = list.kind {
                return try made(try rangeSlice(first, stride, range))
            }
            return try made(ListValue(range.indices.map { list.items[$0] }, list.kind))
        case .string(let text), .markup(let text):
            try spend(text: text)
            let scalars = Array(text.unicodeScalars)
            let range = try SliceRange(scalars.count, bounds, self)
            let result = PythonText.string(range.indices.map { scalars[$0] })
            if case .markup = value { return .markup(result) }
            return .string(result)
        default: throw fault("\(value.typeName) has no slices")
        }
    }

    private func rangeSlice(_ first: Int, _ stride: Int, _ slice: SliceRange) throws -> ListValue {
        func element(_ index: Int) throws -> Int {
            let (offset, overflow) = stride.multipliedReportingOverflow(by: index)
            let (value, overflow2) = first.addingReportingOverflow(offset)
            if overflow || overflow2 { throw tooLarge() }
            return value
        }
        let (step, overflow) = stride.multipliedReportingOverflow(by: slice.step)
        if overflow { throw tooLarge() }
        return ListValue(
            try slice.indices.map { .int(try element($0)) },
            .range(start: try element(slice.start), stop: try element(slice.stop), step: step))
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
        case .method(let method):
            try check(method.name.signature, given, "the method '\(method.name.rawValue)'")
            return try call(method.name, of: method.receiver, given)
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

/// The indices that a Python slice takes from a sequence.
struct SliceRange {
    let start: Int
    let stop: Int
    let step: Int

    init(_ count: Int, _ bounds: (start: Int?, stop: Int?, step: Int?), _ evaluator: Evaluator) throws {
        step = bounds.step ?? 1
        guard step != 0 else { throw evaluator.fault("a slice can't have step 0") }
        let lowest = step < 0 ? -1 : 0
        let highest = step < 0 ? count - 1 : count
        func clamp(_ bound: Int) -> Int {
            // `count` is a size in memory, so that the sum can't overflow for a negative bound.
            let index = bound < 0 ? bound + count : bound
            return min(max(index, lowest), highest)
        }
        start = bounds.start.map(clamp) ?? (step < 0 ? highest : lowest)
        stop = bounds.stop.map(clamp) ?? (step < 0 ? lowest : highest)
    }

    var indices: [Int] {
        var result: [Int] = []
        var at = start
        while step < 0 ? at > stop : at < stop {
            result.append(at)
            let (next, overflow) = at.addingReportingOverflow(step)
            if overflow { break }
            at = next
        }
        return result
    }
}
