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
        case .dictsort: return try dictsort(value, arguments)
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

    private func dictsort(_ value: Value, _ arguments: [Value?]) throws -> Value {
        try refuseUndefined(value)
        guard case .dict(let dict) = value else {
            throw fault("the filter 'dictsort' needs a dict, not \(value.typeName)")
        }
        let caseSensitive = try arguments[0].map(isTrue) ?? false
        let by = arguments[1]?.text ?? "key"
        guard by == "key" || by == "value" else { throw fault("a dict is sorted by \"key\" or \"value\"") }
        let part = by == "key" ? dict.members.keys : dict.members.values
        let order = try sorted(
            Array(part.indices), by: { try self.folded(part[$0], caseSensitive) },
            reverse: try arguments[2].map(isTrue) ?? false)
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

    /// `batch`: lists of so many elements; `slice`: so many lists.
    func divide(_ name: FilterName, _ value: Value, _ arguments: [Value?]) throws -> Value {
        guard let count = arguments[0]?.integer, count > 0 else {
            throw fault("the filter '\(name.rawValue)' needs a number above 0")
        }
        let items = try iterate(value)
        let fill = arguments[1].flatMap { isNone($0) ? nil : $0 }
        let (each, longer) = items.count.quotientAndRemainder(dividingBy: count)
        let lists = name == .slice ? count : longer > 0 ? each + 1 : each
        try spend(4 * min(lists, limits.steps))
        var (rest, result) = (items[...], [Value]())
        for i in 0..<lists {
            let size = name == .batch ? count : i < longer ? each + 1 : each
            var part = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            if let fill {
                let lacking = (name == .batch ? count : each + 1) - part.count
                try spend(4 * min(lacking, limits.steps))
                part += Array(repeating: fill, count: lacking)
            }
            result.append(try made(list: part))
        }
        return try made(generator: result)
    }
}
