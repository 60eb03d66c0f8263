extension Evaluator {
    func apply(_ filter: FilterCall, to value: Value) throws -> Value {
        let given = try values(filter.arguments)
        line = filter.line
        return try apply(filter.name, to: value, given)
    }

    private func apply(_ name: FilterName, to value: Value, _ given: GivenArguments) throws -> Value {
        if name != .default && name != .d { try refuseIfStrict(value) }
        let arguments = given.bound(to: name.signature)
        switch name {
        case .default, .d: return try standard(value, arguments)
        case .upper, .lower, .capitalize, .title, .trim, .indent, .replace, .safe, .string, .truncate:
            return try apply(text: name, to: value, arguments)
        case .format:
            guard !given.named.isEmpty else { return .string(try format(string(value), given.positional)) }
            guard given.positional.isEmpty else {
                throw fault("the filter 'format' takes values by place or by name, and not both")
            }
            return .string(
                try format(string(value), []) { name in given.named.first { $0.name == name }?.value })
        case .int, .float, .round: return try apply(number: name, to: value, arguments)
        case .length, .count: return .int(try length(value))
        case .join: return try join(value, arguments)
        case .first:
            if case .generator(let generator) = value { return generator.next() ?? empty("first") }
            return try iterate(value).first ?? empty("first")
        case .last: return try last(value)
        case .list: return try made(list: try iterate(value))
        case .items:
            if case .undefined = value { return try made(generator: []) }
            guard case .dict(let dict) = value else {
                throw fault("the filter 'items' needs a dict, not \(value.typeName)")
            }
            try spend(4 * dict.members.count)
            return try made(generator: dict.pairs)
        case .reverse: return try reverse(value)
        case .tojson: return .string(try text(of: value, try jsonStyle(arguments)))
        case .map: return try map(value, given)
        case .select, .reject, .selectattr, .rejectattr: return try select(name, value, given)
        case .sort, .dictsort, .unique, .min, .max, .sum: return try apply(order: name, to: value, arguments)
        }
    }

    private func standard(_ value: Value, _ arguments: [Value?]) throws -> Value {
        let fallback = arguments[0] ?? .string("")
        if case .undefined = value { return fallback }
        if let byTruth = arguments[1], try isTrue(byTruth), !(try isTrue(value)) { return fallback }
        return value
    }

    private func empty(_ name: String) -> Value {
        .undefined(Undefined("the filter '\(name)' found no element"))
    }

    private func length(_ value: Value) throws -> Int {
        switch value {
        case .undefined: return 0
        case .string(let text):
            try spend(text: text)
            return text.unicodeScalars.count
        case .list(let list): return list.items.count
        case .dict(let dict): return dict.members.count
        case .loop(let loop): return loop.items.count
        default: throw fault("\(value.typeName) has no length")
        }
    }

    private func join(_ value: Value, _ arguments: [Value?]) throws -> Value {
        var items = try iterate(value)
        if let path = try attributePath(arguments[1]) { items = try items.map { try follow(path, $0) } }
        let separator = try arguments[0].map(string) ?? ""
        return .string(try join(items, separator, string))
    }

    private func last(_ value: Value) throws -> Value {
        switch value {
        case .string, .list, .dict, .undefined: return try iterate(value).last ?? empty("last")
        default: throw fault("the filter 'last' needs a list, not \(value.typeName)")
        }
    }

    private func reverse(_ value: Value) throws -> Value {
        guard let text = value.text else { return try made(generator: try iterate(value).reversed()) }
        try spend(text: text)
        return .string(PythonText.string(text.unicodeScalars.reversed()))
    }

    private func jsonStyle(_ arguments: [Value?]) throws -> ValueStyle {
        var style = ValueStyle(isJSON: true)
        style.ascii = try arguments[0].map(isTrue) ?? false
        switch arguments[1] ?? .none {
        case .none: break
        case .string(let text): style.indent = text
        case let value:
            guard let width = value.integer else {
                throw fault("tojson's indent must be a number, not \(value.typeName)")
            }
            guard width <= 1000 else { throw fault("tojson's indent is larger than 1000") }
            style.indent = String(repeating: " ", count: max(0, width))
        }
        if style.indent != nil { style.itemSeparator = "," }
        if let separators = arguments[2], !isNone(separators) {
            let texts = try iterate(separators).compactMap(\.text)
            guard texts.count == 2 else { throw fault("tojson's separators must be two strings") }
            style.itemSeparator = texts[0]
            style.keySeparator = texts[1]
        }
        return style
    }

    func isNone(_ value: Value) -> Bool {
        if case .none = value { return true }
        return false
    }

    // MARK: Attributes and other filters by name

    enum PathPart {
        case index(Int)
        case name(String)
    }

    /// "a.b.0" as parts; nil if no attribute is asked for.
    func attributePath(_ value: Value?) throws -> [PathPart]? {
        guard let value, !isNone(value) else { return nil }
        if let index = value.integer { return [.index(index)] }
        guard let text = value.text else {
            throw fault("an attribute is named by a string, not \(value.typeName)")
        }
        try spend(text: text)
        return text.isEmpty
            ? [.name("")]
            : PythonText.split(text, ".", limit: .max).map { part in
                part.utf8.allSatisfy { (0x30...0x39).contains($0) }
                    ? Int(part).map(PathPart.index) ?? .name(part) : .name(part)
            }
    }

    func follow(_ path: [PathPart], _ value: Value, fallback: Value? = nil) throws -> Value {
        var value = value
        for part in path {
            try spend(2)
            switch part {
            case .index(let index): value = try item(value, .int(index))
            case .name(let name): value = try item(value, .string(name))
            }
            if case .undefined = value, let fallback, !isNone(fallback) { value = fallback }
        }
        return value
    }

    private func map(_ value: Value, _ given: GivenArguments) throws -> Value {
        if given.positional.isEmpty {
            let attribute = given.named.first { $0.name == "attribute" }?.value
            guard let path = try attributePath(attribute) else {
                throw fault("the filter 'map' needs the name of an attribute")
            }
            let fallback = given.named.first { $0.name == "default" }?.value
            let items = try iterate(value).map { try follow(path, $0, fallback: fallback) }
            return try made(generator: items)
        }
        guard let name = given.positional[0].text, let filter = FilterName(rawValue: name) else {
            throw fault("the filter that 'map' is given does not exist")
        }
        let rest = GivenArguments(positional: Array(given.positional.dropFirst()), named: given.named)
        try check(filter.signature, rest, "the filter '\(name)'")
        let items = try iterate(value).map { item in try deeper { try apply(filter, to: item, rest) } }
        return try made(generator: items)
    }

    private func select(_ name: FilterName, _ value: Value, _ given: GivenArguments) throws -> Value {
        let wanted = name == .select || name == .selectattr
        var arguments = given.positional[...]
        var path: [PathPart] = []
        if name == .selectattr || name == .rejectattr {
            guard let found = try attributePath(arguments.popFirst()) else {
                throw fault("the filter '\(name.rawValue)' needs the name of an attribute")
            }
            path = found
        }
        var test: TestName?
        if let named = arguments.popFirst() {
            guard let text = named.text, let found = TestName(rawValue: text) else {
                throw fault("the test that '\(name.rawValue)' is given does not exist")
            }
            test = found
        }
        let rest = GivenArguments(positional: Array(arguments), named: given.named)
        if let test { try check(test.signature, rest, "the test '\(test.rawValue)'") }
        let items = try iterate(value).filter { item in
            try spend(2)
            let value = try follow(path, item)
            let holds = try test.map { try self.test($0, value, rest) } ?? isTrue(value)
            return holds == wanted
        }
        return try made(generator: items)
    }
}
