import JSON

extension Evaluator {
    func compare(_ a: Value, _ sign: CompareOperator, _ b: Value) throws -> Bool {
        switch sign {
        case .equal: return try isEqual(a, b)
        case .notEqual: return !(try isEqual(a, b))
        case .less: return try order(a, b).map { $0 < 0 } ?? false
        case .lessOrEqual: return try order(a, b).map { $0 <= 0 } ?? false
        case .greater: return try order(a, b).map { $0 > 0 } ?? false
        case .greaterOrEqual: return try order(a, b).map { $0 >= 0 } ?? false
        case .isIn: return try contains(b, a)
        case .notIn: return !(try contains(b, a))
        }
    }

    func isEqual(_ a: Value, _ b: Value) throws -> Bool {
        if let x = a.text, let y = b.text {
            guard x.utf8.count == y.utf8.count else { return false }
            try spend(text: x)
            return ExactText(x) == ExactText(y)
        }
        if let x = a.integer, let y = b.integer { return x == y }
        if a.isWritten || b.isWritten, let x = a.exactNumber, let y = b.exactNumber { return x == y }
        if let x = a.number, let y = b.number { return x == y }
        switch (a, b) {
        case (.undefined, .undefined), (.none, .none): return true
        case (.list(let x), .list(let y)): return try isEqual(x, y)
        case (.dict(let x), .dict(let y)): return try isEqual(x, y)
        case (.generator(let x), .generator(let y)): return x === y
        case (.namespace(let x), .namespace(let y)): return x === y
        case (.macro(let x), .macro(let y)): return x === y
        case (.loop(let x), .loop(let y)): return x === y
        case (.function(let x), .function(let y)): return x == y
        default: return false
        }
    }

    private func isEqual(_ a: ListValue, _ b: ListValue) throws -> Bool {
        guard a.kind == b.kind, a.kind != .view else { return a === b }
        guard a.items.count == b.items.count else { return false }
        for (x, y) in zip(a.items, b.items) {
            try spend(1)
            if !(try isEqual(x, y)) { return false }
        }
        return true
    }

    private func isEqual(_ a: DictValue, _ b: DictValue) throws -> Bool {
        guard a.members.count == b.members.count else { return false }
        for (name, x) in zip(a.members.keys, a.members.values) {
            try spend(1)
            guard let key = DictKey(name), let y = b.members[key], try isEqual(x, y) else { return false }
        }
        return true
    }

    /// -1, 0 or 1; nil if a NaN is compared, which is neither less nor more nor equal.
    func order(_ a: Value, _ b: Value) throws -> Int? {
        try refuseUndefined(a)
        try refuseUndefined(b)
        try spend(1)
        if let x = a.text, let y = b.text {
            try spend(forText: 1 + min(x.utf8.count, y.utf8.count) / 16)
            let (x, y) = (ExactText(x), ExactText(y))
            return x < y ? -1 : x == y ? 0 : 1
        }
        if let x = a.integer, let y = b.integer { return x < y ? -1 : x > y ? 1 : 0 }
        if a.isWritten || b.isWritten, let x = a.exactNumber, let y = b.exactNumber {
            return x < y ? -1 : y < x ? 1 : 0
        }
        if let x = a.number, let y = b.number { return x < y ? -1 : x > y ? 1 : x == y ? 0 : nil }
        if case .list(let x) = a, case .list(let y) = b, x.kind == y.kind,
            x.kind == .list || x.kind == .tuple
        {
            for (p, q) in zip(x.items, y.items) where !(try isEqual(p, q)) { return try order(p, q) }
            return x.items.count < y.items.count ? -1 : x.items.count > y.items.count ? 1 : 0
        }
        throw fault("\(a.typeName) and \(b.typeName) have no order")
    }

    func contains(_ container: Value, _ value: Value) throws -> Bool {
        switch container {
        case .undefined:
            try refuseIfStrict(container)
            return false
        case .string(let text):
            try refuseUndefined(value)
            guard let needle = value.text else {
                throw fault("only a string can be in a string, not \(value.typeName)")
            }
            try spend(forText: 2 + (text.utf8.count + needle.utf8.count) / 4)
            return PythonText.contains(text, needle)
        case .list(let list):
            return try list.items.contains {
                try spend(1)
                return try isEqual($0, value)
            }
        case .dict(let dict):
            try refuseIfStrict(value)
            return dict.members[try key(value)] != nil
        case .generator(let generator):
            while let item = generator.next() {
                try spend(1)
                if try isEqual(item, value) { return true }
            }
            return false
        default: throw fault("nothing can be in \(container.typeName)")
        }
    }
}
