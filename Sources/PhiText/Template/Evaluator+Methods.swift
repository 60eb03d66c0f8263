extension Evaluator {
    func call(_ method: MethodName, of receiver: Value, _ given: GivenArguments) throws -> Value {
        for value in given.positional { try refuseIfStrict(value) }
        switch receiver {
        case .string(let text): return try call(method, text: text, given)
        case .dict(let dict): return try call(method, dict: dict, given)
        default: throw fault("\(receiver.typeName) has no method '\(method.rawValue)'")
        }
    }

    private func call(_ method: MethodName, dict: DictValue, _ given: GivenArguments) throws -> Value {
        switch method {
        case .get:
            return dict.members[try key(given.positional[0])]
                ?? (given.positional.count > 1 ? given.positional[1] : .none)
        case .keys: return try made(ListValue(dict.members.keys, .view))
        case .values: return try made(ListValue(dict.members.values, .view))
        case .items:
            try spend(4 * dict.members.count)
            return try made(ListValue(dict.pairs, .view))
        default: throw fault("a dict has no method '\(method.rawValue)'")
        }
    }

    // MARK: Strings

    private func text(_ value: Value?, _ method: MethodName) throws -> String {
        guard let text = value?.text else {
            throw fault(
                "the method '\(method.rawValue)' needs a string, not \(value?.typeName ?? "nothing")")
        }
        try spend(text: text)
        return text
    }

    /// A string argument that may be left out or none.
    private func optionalText(_ value: Value?, _ method: MethodName) throws -> String? {
        if case .none? = value { return nil }
        return try value.map { try text($0, method) }
    }

    private func count(_ value: Value?, _ method: MethodName) throws -> Int {
        guard let value else { return .max }
        guard let count = value.integer else {
            throw fault("the method '\(method.rawValue)' needs an integer, not \(value.typeName)")
        }
        return count < 0 ? .max : count
    }

    private func call(_ method: MethodName, text: String, _ given: GivenArguments) throws -> Value {
        try spend(forText: 1 + text.utf8.count / 4)
        let arguments = given.bound(to: method.signature)
        switch method {
        case .upper: return .string(try checked(PythonText.upper(text)))
        case .lower: return .string(try checked(PythonText.lower(text)))
        case .title: return .string(try checked(PythonText.title(text)))
        case .capitalize: return .string(try checked(PythonText.capitalize(text)))
        case .strip: return .string(PythonText.strip(text, try optionalText(arguments[0], method), .both))
        case .lstrip: return .string(PythonText.strip(text, try optionalText(arguments[0], method), .left))
        case .rstrip: return .string(PythonText.strip(text, try optionalText(arguments[0], method), .right))
        case .split: return try split(text, arguments)
        case .startswith, .endswith: return try affix(method, text, given)
        case .replace: return try replace(text, arguments, method)
        case .join:
            return .string(try join(try iterate(given.positional[0]), text) { try self.text($0, method) })
        case .get, .items, .keys, .values: throw fault("a string has no method '\(method.rawValue)'")
        }
    }

    private func checked(_ text: String) throws -> String {
        try checkText(text.utf8.count)
        return text
    }

    private func split(_ text: String, _ arguments: [Value?]) throws -> Value {
        let limit = try count(arguments[1], .split)
        guard let separator = try optionalText(arguments[0], .split) else {
            return try made(list: PythonText.splitWords(text, limit: limit).map(Value.string))
        }
        guard !separator.isEmpty else {
            throw fault("the method 'split' needs a separator that is not empty")
        }
        return try made(list: PythonText.split(text, separator, limit: limit).map(Value.string))
    }

    func replace(_ text: String, _ arguments: [Value?], _ method: MethodName) throws -> Value {
        let old = try self.text(arguments[0], method)
        let new = try self.text(arguments[1], method)
        return .string(try replace(text, old, new, limit: try count(arguments[2], method)))
    }

    func replace(_ text: String, _ old: String, _ new: String, limit: Int) throws -> String {
        // The size is known before the text is made, so that a small template can't ask for a huge one.
        let bytes = Array(text.utf8)
        let cuts =
            old.isEmpty
            ? min(limit, text.unicodeScalars.count + 1)
            : PythonText.occurrences(of: Array(old.utf8), in: bytes, limit: limit).count
        let (grown, overflow) = cuts.multipliedReportingOverflow(by: new.utf8.count)
        try checkText(overflow ? .max : grown)
        try checkText(grown + bytes.count - cuts * old.utf8.count)
        try spend(forText: 1 + (grown + bytes.count) / 4)
        return PythonText.replace(text, old, new, limit: limit)
    }

    /// The texts of `items` with `separator` between them.
    func join(_ items: [Value], _ separator: String, _ text: (Value) throws -> String) throws -> String {
        var result = ""
        for (i, item) in items.enumerated() {
            let text = try text(item)
            try checkText(result.utf8.count + text.utf8.count + separator.utf8.count)
            try spend(forText: 1 + (text.utf8.count + separator.utf8.count) / 16)
            if i > 0 { result += separator }
            result += text
        }
        return result
    }

    private func affix(_ method: MethodName, _ text: String, _ given: GivenArguments) throws -> Value {
        let wanted = given.positional[0]
        var affixes = [wanted]
        if case .list(let list) = wanted, list.kind == .tuple { affixes = list.items }
        for value in affixes {
            let affix = try self.text(value, method)
            let isThere =
                method == .startswith
                ? text.utf8.starts(with: affix.utf8)
                : text.utf8.reversed().starts(with: affix.utf8.reversed())
            if isThere {
                return .bool(true)
            }
        }
        return .bool(false)
    }
}
