import JSON

/// A filter, test or method: its arguments and its code.
///
/// There are those that chat templates and the manual's jobs use; others are refused by name when a template is loaded.
struct Builtin: Sendable {
    typealias Code = @Sendable (_ evaluator: Evaluator, _ value: Value, _ arguments: [Value?]) throws -> Value

    let names: [String]
    /// Number of required `names`.
    let required: Int
    /// Whether strict templates, too, may apply it to a missing value.
    let takesMissing: Bool
    /// Type whose method it is; nil for filters and tests.
    private(set) var owner: Owner?
    let code: Code

    enum Owner { case text, dict }

    init(
        _ names: [String] = [], required: Int = 0, takesMissing: Bool = false, _ code: @escaping Code
    ) {
        self.names = names
        self.required = required
        self.takesMissing = takesMissing
        self.code = code
    }

    /// Filters that apply another filter, or a test, to each element.
    static let eachFilters: Set = ["map", "select", "reject", "selectattr", "rejectattr"]

    static let filters: [String: Builtin] = [
        "capitalize": text(PythonText.capitalize),
        "default": Builtin(["default_value", "boolean"], takesMissing: true) { evaluator, value, arguments in
            let fallback = arguments[0] ?? .string("")
            if case .undefined = value { return fallback }
            let byTruth = try arguments[1].map(evaluator.isTrue) ?? false
            return try byTruth && !evaluator.isTrue(value) ? fallback : value
        },
        "dictsort": Builtin { evaluator, value, _ in
            guard case .dict(let dict) = value else {
                throw evaluator.wrong(value, "'dictsort' needs a dict")
            }
            let keys = dict.members.keys
            let order = try evaluator.sorted(Array(keys.indices)) { try evaluator.folded(keys[$0]) }
            let pairs = dict.pairs
            return try evaluator.made(order.map { pairs[$0] })
        },
        "first": Builtin { evaluator, value, _ in
            if case .list(let list) = value, list.kind == .generator { try evaluator.spend(list.items.count) }
            let items = if case .list(let list) = value { list.take(1) } else { try evaluator.iterate(value) }
            return items.first ?? .undefined("the filter 'first' found no element")
        },
        "int": Builtin(["default"]) { try $0.int($1, fallback: $2[0] ?? .int(0)) },
        "items": Builtin { evaluator, value, _ in
            if case .undefined = value { return try evaluator.made([], .generator) }
            guard case .dict(let dict) = value else { throw evaluator.wrong(value, "'items' needs a dict") }
            return try evaluator.made(dict.pairs, .generator)
        },
        "join": Builtin(["d"]) { evaluator, value, arguments in
            let items = try evaluator.iterate(value)
            return .string(try evaluator.join(items, try arguments[0].map(evaluator.string) ?? ""))
        },
        "last": Builtin { evaluator, value, _ in
            if case .list(let list) = value, list.kind == .generator {
                throw evaluator.wrong(value, "'last' needs a list")
            }
            return try evaluator.iterate(value).last
                ?? .undefined("the filter 'last' found no element")
        },
        "length": Builtin { evaluator, value, _ in .int(try evaluator.length(value)) },
        "list": Builtin { evaluator, value, _ in try evaluator.made(try evaluator.iterate(value)) },
        "lower": text(PythonText.lower),
        "replace": replace,
        // Nothing is escaped, and `+` beside it is refused.
        "safe": text { $0 },
        "sort": Builtin(["attribute"]) { evaluator, value, arguments in
            let path = try evaluator.path(arguments[0])
            let items = try evaluator.iterate(value)
            return try evaluator.made(
                try evaluator.sorted(items) { try evaluator.folded(try evaluator.follow(path, $0)) })
        },
        "string": text { $0 },
        // As in transformers, without HTML escapes.
        "tojson": Builtin(["ensure_ascii", "indent", "separators"]) { evaluator, value, arguments in
            .string(try evaluator.text(of: value, try evaluator.jsonStyle(arguments)))
        },
        "trim": strip(.both),
        "unique": Builtin { evaluator, value, _ in
            var seen: Set<DictKey> = []
            let items = try evaluator.iterate(value).filter {
                try evaluator.spend(4)
                return seen.insert(try evaluator.key(try evaluator.folded($0))).inserted
            }
            return try evaluator.made(items, .generator)
        },
        "upper": text(PythonText.upper),
    ]

    static let tests: [String: Builtin] = [
        "boolean": test { if case .bool = $0 { true } else { false } },
        "defined": test(takesMissing: true) { if case .undefined = $0 { false } else { true } },
        "eq": equal,
        "equalto": equal,
        "false": test { if case .bool(false) = $0 { true } else { false } },
        "float": test { $0.number != nil && $0.integer == nil && !$0.isFarInteger },
        "in": Builtin(["seq"], required: 1) { .bool(try $0.contains($2[0] ?? .none, $1)) },
        "integer": test(isInteger),
        "iterable": test {
            switch $0 {
            case .undefined, .string, .list, .dict, .loop: true
            default: false
            }
        },
        "mapping": test { if case .dict = $0 { true } else { false } },
        "none": test(\.isNone),
        "number": test { $0.number != nil },
        "sequence": test {
            switch $0 {
            case .undefined, .string, .dict: true
            case .list(let list): list.isPlain || list.kind == .range
            default: false
            }
        },
        "string": test { $0.text != nil },
        "true": test { if case .bool(true) = $0 { true } else { false } },
        "undefined": test(takesMissing: true) { if case .undefined = $0 { true } else { false } },
    ]

    // MARK: Makers

    /// Creates a filter or method from text to text.
    static func text(_ make: @escaping @Sendable (String) -> String) -> Builtin {
        Builtin { evaluator, value, _ in
            let text = try evaluator.string(value)
            try evaluator.spend(bytes: text.utf8.count, per: 4)
            let made = make(text)
            try evaluator.checkText(made.utf8.count)
            return .string(made)
        }
    }

    static func strip(_ side: PythonText.Side) -> Builtin {
        Builtin(["chars"]) { evaluator, value, arguments in
            let text = try evaluator.string(value)
            try evaluator.spend(bytes: text.utf8.count, per: 4)
            guard let characters = arguments[0], !characters.isNone else {
                return .string(PythonText.strip(text, nil, side))
            }
            return .string(PythonText.strip(text, try evaluator.needed(characters), side))
        }
    }

    static let replace = Builtin(["old", "new"], required: 2) { evaluator, value, arguments in
        let old = try evaluator.needed(arguments[0])
        return .string(
            try evaluator.replace(try evaluator.string(value), old, try evaluator.needed(arguments[1])))
    }

    private static let equal = Builtin(["other"], required: 1) { .bool(try $0.isEqual($1, $2[0] ?? .none)) }

    private static func test(
        takesMissing: Bool = false, _ holds: @escaping @Sendable (Value) -> Bool
    ) -> Builtin {
        Builtin(takesMissing: takesMissing) { _, value, _ in .bool(holds(value)) }
    }

    @Sendable private static func isInteger(_ value: Value) -> Bool {
        switch value {
        case .int: true
        case .written(let number): number.isWhole
        default: false
        }
    }
}

/// Methods of strings and dicts that change nothing.
extension Builtin {
    private static func ofText(_ builtin: Builtin) -> Builtin {
        var method = builtin
        method.owner = .text
        return method
    }

    private static func ofDict(
        _ names: [String] = [], _ code: @escaping @Sendable (Evaluator, DictValue, [Value?]) throws -> Value
    ) -> Builtin {
        var method = Builtin(names, required: min(1, names.count)) { evaluator, value, arguments in
            guard case .dict(let dict) = value else { return .none }
            return try code(evaluator, dict, arguments)
        }
        method.owner = .dict
        return method
    }

    private static func affix(_ isThere: @escaping @Sendable (String, String) -> Bool) -> Builtin {
        ofText(
            Builtin(["value"], required: 1) { evaluator, value, arguments in
                .bool(isThere(try evaluator.needed(value), try evaluator.needed(arguments[0])))
            })
    }

    static let methods: [String: Builtin] = [
        "capitalize": ofText(text(PythonText.capitalize)),
        "endswith": affix { $0.utf8.reversed().starts(with: $1.utf8.reversed()) },
        "get": ofDict(["key", "default"]) { evaluator, dict, arguments in
            dict.members[try evaluator.key(arguments[0] ?? .none)] ?? arguments[1] ?? .none
        },
        "items": ofDict { evaluator, dict, _ in try evaluator.made(dict.pairs, .view) },
        "keys": ofDict { evaluator, dict, _ in try evaluator.made(dict.members.keys, .view) },
        "lower": ofText(text(PythonText.lower)),
        "lstrip": ofText(strip(.left)),
        "replace": ofText(replace),
        "rstrip": ofText(strip(.right)),
        "split": ofText(
            Builtin(["sep", "maxsplit"], required: 1) { evaluator, value, arguments in
                try evaluator.split(value, try evaluator.needed(arguments[0]), arguments[1])
            }),
        "startswith": affix { $0.utf8.starts(with: $1.utf8) },
        "strip": ofText(strip(.both)),
        "title": ofText(text(PythonText.title)),
        "upper": ofText(text(PythonText.upper)),
        "values": ofDict { evaluator, dict, _ in try evaluator.made(dict.members.values, .view) },
    ]

    /// Whether it is a method of this value.
    func belongs(to value: Value) -> Bool {
        switch value {
        case .string: owner == .text
        case .dict: owner == .dict
        default: false
        }
    }
}
