import Essentials
import JSON

extension Evaluator {
    /// Python's truth of a value.
    func isTrue(_ value: Value) throws -> Bool {
        switch value {
        case .undefined, .none: return false
        case .bool(let value): return value
        case .int(let value): return value != 0
        case .double(let value): return value != 0
        case .written(let number): return !ExactNumber(number).isZero
        case .string(let text): return !text.isEmpty
        case .list(let list): return !list.items.isEmpty
        case .dict(let dict): return dict.members.count > 0
        case .generator, .namespace, .macro, .loop, .function, .method: return true
        }
    }

    func refuseIfStrict(_ value: Value) throws {
        if strict, case .undefined(let reason) = value, !reason.isIntended { throw fault(reason.message) }
    }

    func refuseUndefined(_ value: Value) throws {
        if case .undefined(let reason) = value { throw fault(reason.message) }
    }

    /// The elements that a loop over this value goes through.
    func iterate(_ value: Value) throws -> [Value] {
        switch value {
        case .undefined:
            try refuseIfStrict(value)
            return []
        case .list(let list):
            try spend(1 + list.items.count)
            return list.items
        case .dict(let dict):
            try spend(1 + dict.members.count)
            return dict.members.keys
        case .string(let text):
            try spend(forText: 1 + 4 * text.utf8.count)
            return text.unicodeScalars.map { .string(String($0)) }
        case .generator(let generator): return generator.rest()
        default: throw fault("\(value.typeName) has no elements to go through")
        }
    }

    // MARK: Arithmetic

    func negated(_ value: Value) throws -> Value {
        try refuseUndefined(value)
        if let integer = value.integer {
            let (result, overflow) = 0.subtractingReportingOverflow(integer)
            if overflow { throw tooLarge() }
            return .int(result)
        }
        guard let number = value.number else { throw fault("\(value.typeName) has no sign") }
        if value.isFarInteger { throw tooLarge() }
        return .double(-number)
    }

    func tooLarge() -> TemplateFault { fault("a number is too large for 64 bits") }

    func compute(_ sign: BinaryOperator, _ a: Value, _ b: Value) throws -> Value {
        try refuseUndefined(a)
        try refuseUndefined(b)
        if let x = a.integer, let y = b.integer { return try compute(sign, x, y) }
        if let x = a.number, let y = b.number {
            // Rounded, they would be other integers.
            if sign != .divide, a.isFarInteger || b.isFarInteger { throw tooLarge() }
            return try compute(sign, x, y)
        }
        switch sign {
        case .add:
            if let sum = try joined(a, b) { return sum }
        case .multiply:
            if let count = b.integer, let product = try repeated(a, count) { return product }
            if let count = a.integer, let product = try repeated(b, count) { return product }
        case .modulo:
            guard let text = a.text else { break }
            switch b {
            case .dict(let dict):
                return .string(try format(text, [b]) { try dict.members[self.key(.string($0))] })
            case .list(let list) where list.kind == .tuple: return .string(try format(text, list.items))
            default: return .string(try format(text, [b]))
            }
        default: break
        }
        throw fault("'\(sign.rawValue)' does not work on \(a.typeName) and \(b.typeName)")
    }

    private func joined(_ a: Value, _ b: Value) throws -> Value? {
        switch (a, b) {
        case (.string(let x), .string(let y)): return .string(try append(x, y))
        case (.list(let x), .list(let y)) where x.kind == y.kind && (x.kind == .list || x.kind == .tuple):
            return try made(ListValue(x.items + y.items, x.kind))
        default: return nil
        }
    }

    private func append(_ a: String, _ b: String) throws -> String {
        try checkText(a.utf8.count + b.utf8.count)
        try spend(copying: a.utf8.count + b.utf8.count)
        return a + b
    }

    private func repeated(_ value: Value, _ count: Int) throws -> Value? {
        let count = max(count, 0)
        if let text = value.text {
            let (bytes, overflow) = text.utf8.count.multipliedReportingOverflow(by: count)
            try checkText(overflow ? .max : bytes)
            try spend(forText: 1 + bytes / 16)
            return .string(bytes == 0 ? "" : String(repeating: text, count: count))
        }
        guard case .list(let list) = value, list.kind == .list || list.kind == .tuple else { return nil }
        let (size, overflow) = list.items.count.multipliedReportingOverflow(by: count)
        guard !overflow, size <= limits.steps else { throw fault("a list grows too long") }
        try spend(4 * size)
        var items: [Value] = []
        items.reserveCapacity(size)
        if !list.items.isEmpty {
            for _ in 0..<count { items += list.items }
        }
        return .list(ListValue(items, list.kind))
    }

    private func compute(_ sign: BinaryOperator, _ a: Int, _ b: Int) throws -> Value {
        func checked(_ result: (partialValue: Int, overflow: Bool)) throws -> Value {
            if result.overflow { throw tooLarge() }
            return .int(result.partialValue)
        }
        switch sign {
        case .add: return try checked(a.addingReportingOverflow(b))
        case .subtract: return try checked(a.subtractingReportingOverflow(b))
        case .multiply: return try checked(a.multipliedReportingOverflow(by: b))
        case .divide:
            guard b != 0 else { throw divisionByZero() }
            return .double(Double(a) / Double(b))
        case .floorDivide:
            guard b != 0 else { throw divisionByZero() }
            let result = a.dividedReportingOverflow(by: b)
            if !result.overflow, a % b != 0, (a < 0) != (b < 0) { return .int(result.partialValue - 1) }
            return try checked(result)
        case .modulo:
            guard b != 0 else { throw divisionByZero() }
            let rest = a.remainderReportingOverflow(dividingBy: b).partialValue
            return .int(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest)
        }
    }

    private func compute(_ sign: BinaryOperator, _ a: Double, _ b: Double) throws -> Value {
        switch sign {
        case .add: return .double(a + b)
        case .subtract: return .double(a - b)
        case .multiply: return .double(a * b)
        case .divide:
            guard b != 0 else { throw divisionByZero() }
            return .double(a / b)
        case .floorDivide, .modulo: throw fault("'\(sign.rawValue)' works on integers only")
        }
    }

    private func divisionByZero() -> TemplateFault { fault("a number is divided by zero") }
}
