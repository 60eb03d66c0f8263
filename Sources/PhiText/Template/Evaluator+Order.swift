extension Evaluator {
    /// Sorts stably by a key; equal elements keep their order even when reversed, as in Python.
    func sorted<T>(_ items: [T], by key: (T) throws -> Value, reverse: Bool) throws -> [T] {
        try spend(4 * items.count)
        let keys = try items.map(key)
        let order = try items.indices.sorted { i, j in
            // A NaN is neither less nor greater, so it counts as equal here.
            let order = try self.order(keys[i], keys[j]) ?? 0
            return order == 0 ? i < j : (order < 0) != reverse
        }
        return order.map { items[$0] }
    }

    func apply(order name: FilterName, to value: Value, _ arguments: [Value?]) throws -> Value {
        switch name {
        case .sort:
            let reverse = try arguments[0].map(isTrue) ?? false
            let caseSensitive = try arguments[1].map(isTrue) ?? false
            let paths = try sortPaths(arguments[2])
            let items = try sorted(
                try iterate(value),
                by: { item in
                    .array(try paths.map { try self.folded(try self.follow($0, item), caseSensitive) })
                }, reverse: reverse)
            return try made(list: items)
        case .dictsort: return try dictsort(value)
        case .unique: return try unique(value, arguments)
        case .min, .max: return try extreme(value, arguments, largest: name == .max)
        default: return try sum(value, arguments)
        }
    }

    /// A key for comparing, without regard to case unless asked for.
    private func folded(_ value: Value, _ caseSensitive: Bool) throws -> Value {
        guard !caseSensitive, let text = value.text else { return value }
        try spend(forText: 1 + text.utf8.count / 4)
        return .string(PythonText.lower(text))
    }

    /// The attributes of `sort`: several may be named with commas between.
    private func sortPaths(_ value: Value?) throws -> [[PathPart]] {
        guard let text = value?.text else { return [try attributePath(value) ?? []] }
        try spend(text: text)
        return try PythonText.split(text, ",", limit: .max).map { try attributePath(.string($0)) ?? [] }
    }

    private func dictsort(_ value: Value) throws -> Value {
        try refuseUndefined(value)
        guard case .dict(let dict) = value else {
            throw fault("the filter 'dictsort' needs a dict, not \(value.typeName)")
        }
        let keys = dict.members.keys
        let order = try sorted(Array(keys.indices), by: { try self.folded(keys[$0], false) }, reverse: false)
        let pairs = dict.pairs
        return try made(list: order.map { pairs[$0] })
    }

    private func unique(_ value: Value, _ arguments: [Value?]) throws -> Value {
        let caseSensitive = try arguments[0].map(isTrue) ?? false
        let path = try attributePath(arguments[1]) ?? []
        var seen: Set<DictKey> = []
        let items = try iterate(value).filter { item in
            try spend(4)
            return seen.insert(try key(try folded(try follow(path, item), caseSensitive))).inserted
        }
        return try made(generator: items)
    }

    private func extreme(_ value: Value, _ arguments: [Value?], largest: Bool) throws -> Value {
        let caseSensitive = try arguments[0].map(isTrue) ?? false
        let path = try attributePath(arguments[1]) ?? []
        var best: (item: Value, key: Value)?
        for item in try iterate(value) {
            let key = try folded(try follow(path, item), caseSensitive)
            if let current = best {
                let order = try self.order(key, current.key) ?? 0
                if largest ? order <= 0 : order >= 0 { continue }
            }
            best = (item, key)
        }
        return best?.item ?? .undefined(Undefined("the list is empty"))
    }

    private func sum(_ value: Value, _ arguments: [Value?]) throws -> Value {
        let path = try attributePath(arguments[0]) ?? []
        return try iterate(value).reduce(arguments[1] ?? .int(0)) {
            try compute(.add, $0, try follow(path, $1))
        }
    }
}
