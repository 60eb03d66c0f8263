extension Evaluator {
    func call(_ function: FunctionName, _ given: GivenArguments) throws -> Value {
        switch function {
        case .raiseException:
            let message = given.bound(to: function.signature)[0] ?? .none
            throw fault("the template refuses this input: \(try string(message))")
        case .range: return try range(given.positional)
        case .namespace:
            guard given.positional.isEmpty else {
                throw fault("'namespace' takes each member by name, as in a=1")
            }
            let result = try makeNamespace()
            for (name, value) in given.named { result.members.set(name, value) }
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
        return try made(ListValue(items, .range))
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
        case .mapping: if case .dict = value { return true }
        case .iterable: return isIterable(value)
        case .sequence: return isSequence(value)
        case .odd: return try isEqual(try compute(.modulo, try number(value), .int(2)), .int(1))
        case .even: return try isEqual(try compute(.modulo, try number(value), .int(2)), .int(0))
        case .divisibleby:
            return try isEqual(try compute(.modulo, try number(value), try number(other)), .int(0))
        case .in: return try contains(other, value)
        default: break
        }
        return false
    }

    private func number(_ value: Value) throws -> Value {
        try refuseUndefined(value)
        guard value.number != nil else { throw fault("a number is needed here, not \(value.typeName)") }
        return value
    }

    private func isIterable(_ value: Value) -> Bool {
        switch value {
        case .undefined, .string, .list, .dict, .generator, .loop: true
        default: false
        }
    }

    private func isSequence(_ value: Value) -> Bool {
        switch value {
        case .undefined, .string, .dict: true
        case .list(let list): list.kind != .view
        default: false
        }
    }
}
