extension Evaluator {
    func call(_ method: MethodName, of receiver: Value, _ given: GivenArguments) throws -> Value {
        for value in given.positional { try refuseIfStrict(value) }
        switch receiver {
        case .string(let text): return try call(method, text: text, given)
        case .markup(let text): return try call(method, markup: text, given)
        case .dict(let dict): return try call(method, dict: dict, given)
        case .list(let list): return try call(method, list: list, given)
        case .loop(let loop): return try call(method, loop: loop, given)
        default: throw fault("\(receiver.typeName) has no method '\(method.rawValue)'")
        }
    }

    // MARK: Lists, dicts, loops

    private func call(_ method: MethodName, list: ListValue, _ given: GivenArguments) throws -> Value {
        switch method {
        case .copy: return try made(list: list.items)
        case .count:
            var count = 0
            for item in list.items {
                try spend(1)
                if try isEqual(item, given.positional[0]) { count += 1 }
            }
            return .int(count)
        case .index:
            let (start, end) = try bounds(given, count: list.items.count)
            for i in start..<end {
                try spend(1)
                if try isEqual(list.items[i], given.positional[0]) { return .int(i) }
            }
            throw fault("the value is not in the list")
        default: throw fault("a list has no method '\(method.rawValue)'")
        }
    }

    private func call(_ method: MethodName, dict: DictValue, _ given: GivenArguments) throws -> Value {
        switch method {
        case .copy: return try made(dict)
        case .get:
            return dict.members[try key(given.positional[0])]
                ?? (given.positional.count > 1 ? given.positional[1] : .none)
        case .keys: return try made(ListValue(dict.members.keys, .view("dict_keys")))
        case .values: return try made(ListValue(dict.members.values, .view("dict_values")))
        case .items:
            try spend(4 * dict.members.count)
            return try made(ListValue(dict.pairs, .view("dict_items")))
        default: throw fault("a dict has no method '\(method.rawValue)'")
        }
    }

    private func call(_ method: MethodName, loop: LoopState, _ given: GivenArguments) throws -> Value {
        guard given.named.isEmpty else {
            throw fault("the method '\(method.rawValue)' takes no argument by name")
        }
        if method == .cycle {
            guard !given.positional.isEmpty else { throw fault("'loop.cycle' needs values to choose from") }
            return given.positional[loop.index % given.positional.count]
        }
        defer { loop.lastChanged = given.positional }
        guard let last = loop.lastChanged else { return .bool(true) }
        return .bool(!(try isEqual(.tuple(last), .tuple(given.positional))))
    }

    /// The bounds at the second and third argument, as Python reads them.
    private func bounds(_ given: GivenArguments, count: Int) throws -> (start: Int, end: Int) {
        func bound(_ at: Int, _ standard: Int) throws -> Int {
            guard given.positional.count > at else { return standard }
            if case .none = given.positional[at] { return standard }
            guard let index = given.positional[at].integer else {
                throw fault("an index must be an integer, not \(given.positional[at].typeName)")
            }
            return min(max(index < 0 ? index + count : index, 0), count)
        }
        let start = try bound(1, 0)
        return (start, max(start, try bound(2, count)))
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

    /// Methods of a marked string: those whose result needs no escaping.
    private func call(_ method: MethodName, markup text: String, _ given: GivenArguments) throws -> Value {
        switch method {
        case .join, .replace, .removeprefix, .removesuffix:
            throw fault("the method '\(method.rawValue)' does not work on a string marked safe")
        default:
            let result = try call(method, text: text, given)
            if case .string(let text) = result { return .markup(text) }
            guard case .list(let list) = result else { return result }
            return .array(list.items.map { $0.text.map(Value.markup) ?? $0 })
        }
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
        case .split, .rsplit: return try split(method, text, arguments)
        case .splitlines:
            let keepEnds = try arguments[0].map { try isTrue($0) } ?? false
            return try made(list: PythonText.splitLines(text, keepEnds: keepEnds).map(Value.string))
        case .startswith, .endswith: return try affix(method, text, given)
        case .find, .rfind, .index, .count: return try find(method, text, given)
        case .replace: return try replace(text, arguments, method)
        case .removeprefix, .removesuffix:
            let affix = try self.text(arguments[0], method)
            let isPrefix = method == .removeprefix
            guard isPrefix ? text.utf8.starts(with: affix.utf8) : hasSuffix(text, affix) else {
                return .string(text)
            }
            let rest =
                isPrefix ? text.utf8.dropFirst(affix.utf8.count) : text.utf8.dropLast(affix.utf8.count)
            return .string(String(decoding: rest, as: UTF8.self))
        case .join:
            return .string(try join(try iterate(given.positional[0]), text) { try self.text($0, method) })
        case .isdigit: return .bool(all(text) { isDigit($0.properties) })
        case .isalpha: return .bool(all(text) { isLetter($0.properties) })
        case .isalnum: return .bool(all(text) { isLetter($0.properties) || isNumeric($0.properties) })
        case .isspace: return .bool(all(text, PythonText.isSpace))
        case .islower: return .bool(PythonText.isLower(text))
        case .isupper: return .bool(PythonText.isUpper(text))
        case .changed, .copy, .cycle, .get, .items, .keys, .values:
            throw fault("a string has no method '\(method.rawValue)'")
        }
    }

    private func checked(_ text: String) throws -> String {
        try checkText(text.utf8.count)
        return text
    }

    private func split(_ method: MethodName, _ text: String, _ arguments: [Value?]) throws -> Value {
        let limit = try count(arguments[1], method)
        let parts: [String]
        if let separator = try optionalText(arguments[0], method) {
            guard !separator.isEmpty else {
                throw fault("the method 'split' needs a separator that is not empty")
            }
            parts =
                method == .split
                ? PythonText.split(text, separator, limit: limit)
                : PythonText.splitFromRight(text, separator, limit: limit)
        } else {
            parts =
                method == .split
                ? PythonText.splitWords(text, limit: limit)
                : PythonText.splitWordsFromRight(text, limit: limit)
        }
        return try made(list: parts.map(Value.string))
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
        guard given.positional.count == 1 else {
            throw fault("'\(method.rawValue)' with bounds is not supported")
        }
        let wanted = given.positional[0]
        var affixes = [wanted]
        if case .list(let list) = wanted, list.kind == .tuple { affixes = list.items }
        for value in affixes {
            let affix = try self.text(value, method)
            if method == .startswith ? text.utf8.starts(with: affix.utf8) : hasSuffix(text, affix) {
                return .bool(true)
            }
        }
        return .bool(false)
    }

    private func hasSuffix(_ text: String, _ suffix: String) -> Bool {
        text.utf8.count >= suffix.utf8.count
            && text.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    private func find(_ method: MethodName, _ text: String, _ given: GivenArguments) throws -> Value {
        let needle = Array(try self.text(given.positional[0], method).unicodeScalars)
        // Bounds count code points, so the search runs over them.
        let scalars = Array(text.unicodeScalars)
        let (start, end) = try bounds(given, count: scalars.count)
        // Beyond the end there is not even an empty text to find.
        if given.positional.count > 1, let from = given.positional[1].integer, from > scalars.count {
            if method == .index { throw fault("the text is not in the string") }
            return .int(method == .count ? 0 : -1)
        }
        let part = Array(scalars[start..<end])
        if method == .count {
            let count = needle.isEmpty ? part.count + 1 : PythonText.occurrences(of: needle, in: part).count
            return .int(count)
        }
        let found =
            method == .rfind ? PythonText.last(needle, in: part) : PythonText.first(needle, in: part)
        if method == .index, found == nil { throw fault("the text is not in the string") }
        return .int(found.map { $0 + start } ?? -1)
    }

    private func all(_ text: String, _ property: (Unicode.Scalar) -> Bool) -> Bool {
        !text.isEmpty && text.unicodeScalars.allSatisfy(property)
    }

    func isLetter(_ properties: Unicode.Scalar.Properties) -> Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        default: false
        }
    }

    private func isDigit(_ properties: Unicode.Scalar.Properties) -> Bool {
        properties.numericType == .decimal || properties.numericType == .digit
    }

    func isNumeric(_ properties: Unicode.Scalar.Properties) -> Bool { properties.numericType != nil }
}
