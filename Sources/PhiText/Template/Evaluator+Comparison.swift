import JSON

/// Comparison and order of values.
extension Evaluator {
    func isEqual(_ a: Value, _ b: Value) throws -> Bool {
        if let x = a.text, let y = b.text {
            guard x.utf8.count == y.utf8.count else { return false }
            try spend(bytes: x.utf8.count, per: 16)
            return ExactText(x) == ExactText(y)
        }
        if let x = a.integer, let y = b.integer { return x == y }
        if let x = a.exactNumber, let y = b.exactNumber { return x == y }
        if let x = a.number, let y = b.number { return x == y }
        switch (a, b) {
        case (.undefined, .undefined), (.none, .none): return true
        case (.list(let x), .list(let y)) where x.kind != y.kind || x.kind == .view || x.kind == .generator:
            return x === y
        case (.list(let x), .list(let y)):
            return try x.items.count == y.items.count
                && zip(x.items, y.items).allSatisfy {
                    try spend(1)
                    return try isEqual($0, $1)
                }
        case (.dict(let x), .dict(let y)):
            return try x.members.count == y.members.count
                && zip(x.members.keys, x.members.values).allSatisfy { name, value in
                    try spend(1)
                    return try DictKey(name).flatMap { y.members[$0] }.map { try isEqual(value, $0) } ?? false
                }
        case (.namespace(let x), .namespace(let y)): return x === y
        case (.macro(let x, let around), .macro(let y, let scope)):
            return x.name == y.name && around === scope
        case (.loop(let x), .loop(let y)): return x === y
        default: return false
        }
    }

    /// Returns -1, 0 or 1; nil if one is NaN, which is unordered.
    func order(_ a: Value, _ b: Value) throws -> Int? {
        try refuseUndefined(a)
        try refuseUndefined(b)
        try spend(1)
        func order<T: Comparable>(_ x: T, _ y: T) -> Int? { x < y ? -1 : x > y ? 1 : x == y ? 0 : nil }
        if let x = a.text, let y = b.text {
            try spend(bytes: min(x.utf8.count, y.utf8.count), per: 16)
            return order(ExactText(x), ExactText(y))
        }
        if let x = a.integer, let y = b.integer { return order(x, y) }
        if let x = a.exactNumber, let y = b.exactNumber { return order(x, y) }
        if let x = a.number, let y = b.number { return order(x, y) }
        throw fault("\(a.typeName) and \(b.typeName) have no order")
    }

    func contains(_ container: Value, _ value: Value) throws -> Bool {
        switch container {
        case .undefined:
            try refuseIfStrict(container)
            return false
        case .string(let text):
            try refuseUndefined(value)
            guard let part = value.text else {
                throw fault("only a string can be in a string, not \(value.typeName)")
            }
            try spend(bytes: text.utf8.count + part.utf8.count, per: 4)
            return PythonText.contains(text, part)
        case .list(let list) where list.kind != .generator:
            return try list.items.contains {
                try spend(1)
                return try isEqual($0, value)
            }
        case .dict(let dict):
            try refuseIfStrict(value)
            return dict.members[try key(value)] != nil
        default: throw fault("nothing can be in \(container.typeName)")
        }
    }

    /// Sorts stably by a key.
    func sorted<T>(_ items: [T], by key: (T) throws -> Value) throws -> [T] {
        try spend(4 * items.count)
        let keys = try items.map(key)
        let order = try items.indices.sorted { i, j in
            // NaN is unordered, so it counts as equal here.
            let order = try self.order(keys[i], keys[j]) ?? 0
            return order == 0 ? i < j : order < 0
        }
        return order.map { items[$0] }
    }

    /// Returns a key for comparison without case.
    func folded(_ value: Value) throws -> Value {
        guard let text = value.text else { return value }
        try spend(bytes: text.utf8.count, per: 4)
        return .string(PythonText.lower(text))
    }
}
