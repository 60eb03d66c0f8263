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
        case .string(let text), .markup(let text): return !text.isEmpty
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
        case .string(let text), .markup(let text):
            try spend(forText: 1 + 4 * text.utf8.count)
            return text.unicodeScalars.map { .string(String($0)) }
        case .generator(let generator): return generator.rest()
        default: throw fault("\(value.typeName) has no elements to go through")
        }
    }

    // MARK: Arithmetic

    func signed(_ value: Value, negative: Bool) throws -> Value {
        try refuseUndefined(value)
        if let integer = value.integer {
            let (result, overflow) = 0.subtractingReportingOverflow(integer)
            if negative && overflow { throw tooLarge() }
            return .int(negative ? result : integer)
        }
        guard let number = value.number else { throw fault("\(value.typeName) has no sign") }
        guard negative else { return value }
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
            if a.text != nil { throw fault("formatting a string with '%' is not supported") }
        default: break
        }
        throw fault("'\(sign.rawValue)' does not work on \(a.typeName) and \(b.typeName)")
    }

    private func joined(_ a: Value, _ b: Value) throws -> Value? {
        switch (a, b) {
        case (.string(let x), .string(let y)): return .string(try append(x, y))
        case (.markup(let x), .markup(let y)): return .markup(try append(x, y))
        case (.markup(let x), .string(let y)): return .markup(try append(x, try escaped(y)))
        case (.string(let x), .markup(let y)): return .markup(try append(try escaped(x), y))
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

    /// The text with HTML's special characters as entities, as the `escape` filter gives it.
    func escaped(_ text: String) throws -> String {
        try spend(forText: 1 + text.utf8.count / 2)
        guard text.utf8.contains(where: { "&<>'\"".utf8.contains($0) }) else { return text }
        var result: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x26: result += "&amp;".utf8
            case 0x3C: result += "&lt;".utf8
            case 0x3E: result += "&gt;".utf8
            case 0x27: result += "&#39;".utf8
            case 0x22: result += "&#34;".utf8
            default: result.append(byte)
            }
        }
        try checkText(result.count)
        return String(decoding: result, as: UTF8.self)
    }

    private func repeated(_ value: Value, _ count: Int) throws -> Value? {
        let count = max(count, 0)
        if let text = value.text {
            let (bytes, overflow) = text.utf8.count.multipliedReportingOverflow(by: count)
            try checkText(overflow ? .max : bytes)
            try spend(forText: 1 + bytes / 16)
            let result = bytes == 0 ? "" : PythonText.repeated(text, count)
            if case .markup = value { return .markup(result) }
            return .string(result)
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
        case .power:
            if b < 0 {
                guard a != 0 else { throw divisionByZero() }
                return .double(pow(Double(a), Double(b)))
            }
            return try power(a, b)
        }
    }

    private func power(_ base: Int, _ exponent: Int) throws -> Value {
        if base == 0 || base == 1 { return .int(exponent == 0 ? 1 : base) }
        if base == -1 { return .int(exponent % 2 == 0 ? 1 : -1) }
        // With any other base the result overflows after at most 63 rounds.
        var result = 1
        for _ in 0..<exponent {
            let (product, overflow) = result.multipliedReportingOverflow(by: base)
            if overflow { throw tooLarge() }
            result = product
        }
        return .int(result)
    }

    private func compute(_ sign: BinaryOperator, _ a: Double, _ b: Double) throws -> Value {
        switch sign {
        case .add: return .double(a + b)
        case .subtract: return .double(a - b)
        case .multiply: return .double(a * b)
        case .divide:
            guard b != 0 else { throw divisionByZero() }
            return .double(a / b)
        case .floorDivide:
            guard b != 0 else { throw divisionByZero() }
            return .double(((a - modulo(a, b)) / b).rounded(.toNearestOrEven))
        case .modulo:
            guard b != 0 else { throw divisionByZero() }
            return .double(modulo(a, b))
        case .power:
            if a == 0, b < 0 { throw divisionByZero() }
            let result = pow(a, b)
            if result.isNaN && !a.isNaN && !b.isNaN { throw fault("the result of '**' is no real number") }
            return .double(result)
        }
    }

    /// The remainder with the sign of the divisor, as Python has it.
    private func modulo(_ a: Double, _ b: Double) -> Double {
        let rest = a.truncatingRemainder(dividingBy: b)
        if rest == 0 { return b < 0 ? -0.0 : 0.0 }
        return (rest < 0) != (b < 0) ? rest + b : rest
    }

    private func divisionByZero() -> TemplateFault { fault("a number is divided by zero") }
}
