extension Evaluator {
    func call(_ function: FunctionName, _ given: GivenArguments) throws -> Value {
        switch function {
        case .raiseException:
            let message = given.bound(to: function.signature)[0] ?? .none
            throw fault("the template refuses this input: \(try string(message))")
        case .range: return try range(given.positional)
        case .dict: return try made(DictValue(try members(given, "dict")))
        case .namespace:
            let members = try members(given, "namespace")
            let result = try makeNamespace()
            result.members = members
            return .namespace(result)
        }
    }

    private func range(_ bounds: [Value]) throws -> Value {
        let numbers = try bounds.map { bound in
            try refuseUndefined(bound)
            guard let number = bound.integer else {
                throw fault("'range' needs integers, not \(bound.typeName)")
            }
            return number
        }
        let start = numbers.count > 1 ? numbers[0] : 0
        let stop = numbers.count > 1 ? numbers[1] : numbers[0]
        let step = numbers.count > 2 ? numbers[2] : 1
        guard step != 0 else { throw fault("'range' can't have step 0") }
        var items: [Value] = []
        var at = start
        while step < 0 ? at > stop : at < stop {
            guard items.count < limits.rangeLength else {
                throw fault("'range' gives more than \(limits.rangeLength) numbers")
            }
            items.append(.int(at))
            let (next, overflow) = at.addingReportingOverflow(step)
            if overflow { break }
            at = next
        }
        return try made(ListValue(items, .range(start: start, stop: stop, step: step)))
    }

    /// Returns the members of `dict(...)`, as it is given them: another dict or a list of pairs, and members by name.
    private func members(_ given: GivenArguments, _ function: String) throws -> OrderedMembers {
        var result = OrderedMembers()
        guard given.positional.count <= 1 else {
            throw fault("'\(function)' takes at most one argument without a name")
        }
        if case .dict(let dict)? = given.positional.first {
            try spend(8 * dict.members.count)
            result = dict.members
        } else if let pairs = given.positional.first {
            try refuseUndefined(pairs)
            for pair in try iterate(pairs) {
                let parts = try iterate(pair)
                guard parts.count == 2 else { throw fault("'\(function)' needs pairs of key and value") }
                try spend(8)
                result.set(try key(parts[0]), parts[0], parts[1])
            }
        }
        for (name, value) in given.named { result.set(name, value) }
        return result
    }

    // MARK: Tests

    func test(_ name: TestName, _ value: Value, _ given: GivenArguments) throws -> Bool {
        if name != .defined && name != .undefined { try refuseIfStrict(value) }
        let other = given.positional.first ?? given.named.first?.value ?? .none
        if let comparison = name.comparison { return try compare(value, comparison, other) }
        switch name {
        case .defined, .undefined:
            if case .undefined = value { return name == .undefined }
            return name == .defined
        case .none: if case .none = value { return true }
        case .boolean: if case .bool = value { return true }
        case .true: if case .bool(true) = value { return true }
        case .false: if case .bool(false) = value { return true }
        case .integer:
            if case .int = value { return true }
            if case .written(let number) = value { return number.isWhole }
        case .float:
            if case .double = value { return true }
            if case .written(let number) = value { return !number.isWhole }
        case .number: return value.number != nil
        case .string: return value.text != nil
        case .escaped: if case .markup = value { return true }
        case .mapping: if case .dict = value { return true }
        case .iterable: return isIterable(value)
        case .sequence: return isSequence(value)
        case .callable:
            switch value {
            case .macro, .function, .method: return true
            default: return false
            }
        case .lower: return PythonText.isLower(try spent(string(value)))
        case .upper: return PythonText.isUpper(try spent(string(value)))
        case .odd: return try isEqual(try compute(.modulo, try number(value), .int(2)), .int(1))
        case .even: return try isEqual(try compute(.modulo, try number(value), .int(2)), .int(0))
        case .divisibleby:
            return try isEqual(try compute(.modulo, try number(value), try number(other)), .int(0))
        case .in: return try contains(other, value)
        case .sameas: return try isSame(value, other)
        default: break
        }
        return false
    }

    private func spent(_ text: String) throws -> String {
        try spend(forText: 1 + text.utf8.count / 4)
        return text
    }

    private func number(_ value: Value) throws -> Value {
        try refuseUndefined(value)
        guard value.number != nil else { throw fault("a number is needed here, not \(value.typeName)") }
        return value
    }

    private func isIterable(_ value: Value) -> Bool {
        switch value {
        case .undefined, .string, .markup, .list, .dict, .generator, .loop: true
        default: false
        }
    }

    private func isSequence(_ value: Value) -> Bool {
        switch value {
        case .undefined, .string, .markup, .dict: true
        case .list(let list): !list.isView
        default: false
        }
    }

    /// Python's `is`, as far as it is defined: one type and one value, or one object.
    private func isSame(_ a: Value, _ b: Value) throws -> Bool {
        switch (a, b) {
        case (.bool(let x), .bool(let y)): x == y
        case (.int(let x), .int(let y)): x == y
        case (.double(let x), .double(let y)): x == y
        case (.written(let x), .written(let y)): x == y
        case (.list(let x), .list(let y)): x === y
        case (.dict(let x), .dict(let y)): x === y
        case (.undefined(let x), .undefined(let y)): x === y
        case (.bool, _), (_, .bool), (.int, _), (_, .int), (.double, _), (_, .double),
            (.written, _), (_, .written):
            false
        default: try isEqual(a, b)
        }
    }
}
