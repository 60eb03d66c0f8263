/// Arguments that a filter, test, method or function takes. Checked when a template is loaded.
struct Signature: Sendable {
    var names: [String]
    /// Number of `names` that must be given.
    var required: Int
    /// Whether arguments may be given by name.
    var byName: Bool
    /// Whether further arguments are taken.
    var open: Bool

    init(_ names: [String] = [], required: Int = 0, byName: Bool = true, open: Bool = false) {
        self.names = names
        self.required = required
        self.byName = byName
        self.open = open
    }

    /// Returns the fault of these arguments, if there is one.
    func complaint(positional: Int, named: [String]) -> String? {
        if open { return nil }
        if positional > names.count {
            return "takes at most \(names.count) argument\(names.count == 1 ? "" : "s"), not \(positional)"
        }
        if !byName, let name = named.first { return "takes no argument by name, not '\(name)'" }
        for name in named {
            guard let at = names.firstIndex(of: name) else { return "has no argument '\(name)'" }
            if at < positional { return "has its argument '\(name)' twice" }
        }
        for name in names.prefix(required).dropFirst(positional) where !named.contains(name) {
            return "lacks its argument '\(name)'"
        }
        return nil
    }
}

enum FilterName: String, Sendable, CaseIterable {
    case capitalize, count, d, `default`, dictsort, first, float, format, indent, int, items, join, last,
        length,
        list, lower,
        map, max, min, reject, rejectattr, replace, reverse, round, safe, select, selectattr, sort, string,
        sum, title,
        tojson, trim, truncate, unique, upper

    var signature: Signature {
        switch self {
        case .capitalize, .count, .dictsort, .first, .items, .last, .length, .list, .lower, .reverse, .safe,
            .string,
            .title, .upper:
            Signature()
        case .d, .default: Signature(["default_value", "boolean"])
        case .float, .int: Signature(["default"])
        case .indent: Signature(["width", "first", "blank"])
        case .join: Signature(["d", "attribute"])
        case .format, .map, .reject, .rejectattr, .select, .selectattr: Signature(open: true)
        case .max, .min, .unique: Signature(["case_sensitive", "attribute"])
        case .replace: Signature(["old", "new", "count"], required: 2)
        case .round: Signature(["precision"])
        case .sort: Signature(["reverse", "case_sensitive", "attribute"])
        case .sum: Signature(["attribute", "start"])
        // As transformers defines it, without HTML escapes.
        case .tojson: Signature(["ensure_ascii", "indent", "separators"])
        case .trim: Signature(["chars"])
        case .truncate: Signature(["length", "killwords", "end", "leeway"])
        }
    }
}

enum TestName: String, Sendable, CaseIterable {
    case boolean, defined, divisibleby, even, `false`, float, `in`, integer, iterable, mapping, none, number,
        odd,
        sequence, string, `true`, undefined
    case eq, equalto, ne, gt, ge, lt, le
    case equalSign = "=="
    case notEqualSign = "!="

    var signature: Signature {
        switch self {
        case .divisibleby: Signature(["num"], required: 1)
        case .in: Signature(["seq"], required: 1)
        default: comparison == nil ? Signature() : Signature(["other"], required: 1, byName: false)
        }
    }

    var comparison: CompareOperator? {
        switch self {
        case .eq, .equalto, .equalSign: .equal
        case .ne, .notEqualSign: .notEqual
        case .gt: .greater
        case .ge: .greaterOrEqual
        case .lt: .less
        case .le: .lessOrEqual
        default: nil
        }
    }
}

/// The methods of strings and dicts that templates may call: those that change nothing.
enum MethodName: String, Sendable, CaseIterable {
    case capitalize, endswith, get, items, join, keys, lower, lstrip, replace, rstrip, split, startswith,
        strip, title,
        upper, values

    var signature: Signature {
        switch self {
        case .capitalize, .items, .keys, .lower, .title, .upper, .values: Signature(byName: false)
        case .join, .endswith, .startswith: Signature(["value"], required: 1, byName: false)
        case .get: Signature(["key", "default"], required: 1, byName: false)
        case .lstrip, .rstrip, .strip: Signature(["chars"], byName: false)
        case .replace: Signature(["old", "new", "count"], required: 2, byName: false)
        case .split: Signature(["sep", "maxsplit"])
        }
    }

    var isOfDicts: Bool { [.get, .items, .keys, .values].contains(self) }

    /// Whether a value of this type has this method.
    func belongs(to value: Value) -> Bool {
        switch value {
        case .string: !isOfDicts
        case .dict: isOfDicts
        default: false
        }
    }
}

enum FunctionName: String, Sendable, CaseIterable {
    case namespace, range
    case raiseException = "raise_exception"

    var signature: Signature {
        switch self {
        case .namespace: Signature(open: true)
        case .range: Signature(["start", "stop", "step"], required: 1, byName: false)
        case .raiseException: Signature(["message"], required: 1)
        }
    }
}

/// Names that Jinja defines and phibatch does not, with what to say about them.
let refusedNames: [String: String] = [
    "strftime_now": "strftime_now asks for the time, and results must not depend on the time",
    "lipsum": "the function lipsum gives random text",
    "cycler": "the function cycler is not supported",
    "joiner": "the function joiner is not supported",
    "self": "blocks ('self') are not supported",
    "super": "template inheritance ('super') is not supported",
]
