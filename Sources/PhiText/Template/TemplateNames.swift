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
    case abs, attr, batch, capitalize, count, d, `default`, dictsort, e, escape, first, float, indent, int,
        items, join, last, length, list, lower, map, max, min, reject, rejectattr, replace, reverse, round,
        safe, select, selectattr, slice, sort, string, sum, title, tojson, trim, unique, upper, wordcount

    var signature: Signature {
        switch self {
        case .abs, .capitalize, .count, .e, .escape, .first, .items, .last, .length, .list, .lower, .reverse,
            .safe, .string, .title, .upper, .wordcount:
            Signature()
        case .attr: Signature(["name"], required: 1)
        case .batch: Signature(["linecount", "fill_with"], required: 1)
        case .slice: Signature(["slices", "fill_with"], required: 1)
        case .d, .default: Signature(["default_value", "boolean"])
        case .dictsort: Signature(["case_sensitive", "by", "reverse"])
        case .float: Signature(["default"])
        case .indent: Signature(["width", "first", "blank"])
        case .int: Signature(["default", "base"])
        case .join: Signature(["d", "attribute"])
        case .map, .reject, .rejectattr, .select, .selectattr: Signature(open: true)
        case .max, .min, .unique: Signature(["case_sensitive", "attribute"])
        case .replace: Signature(["old", "new", "count"], required: 2)
        case .round: Signature(["precision", "method"])
        case .sort: Signature(["reverse", "case_sensitive", "attribute"])
        case .sum: Signature(["attribute", "start"])
        // As transformers defines it, without HTML escapes.
        case .tojson: Signature(["ensure_ascii", "indent", "separators", "sort_keys"])
        case .trim: Signature(["chars"])
        }
    }
}

enum TestName: String, Sendable, CaseIterable {
    case boolean, callable, defined, divisibleby, escaped, even, `false`, float, `in`, integer, iterable,
        lower, mapping, none, number, odd, sameas, sequence, string, `true`, undefined, upper
    case eq, equalto, ne, gt, greaterthan, ge, lt, lessthan, le
    case equalSign = "=="
    case notEqualSign = "!="
    case greaterSign = ">"
    case greaterEqualSign = ">="
    case lessSign = "<"
    case lessEqualSign = "<="

    var signature: Signature {
        switch self {
        case .divisibleby: Signature(["num"], required: 1)
        case .sameas: Signature(["other"], required: 1)
        case .in: Signature(["seq"], required: 1)
        default: comparison == nil ? Signature() : Signature(["other"], required: 1, byName: false)
        }
    }

    var comparison: CompareOperator? {
        switch self {
        case .eq, .equalto, .equalSign: .equal
        case .ne, .notEqualSign: .notEqual
        case .gt, .greaterthan, .greaterSign: .greater
        case .ge, .greaterEqualSign: .greaterOrEqual
        case .lt, .lessthan, .lessSign: .less
        case .le, .lessEqualSign: .lessOrEqual
        default: nil
        }
    }
}

/// The methods of strings, lists, dicts and loops that templates may call: those that change nothing.
enum MethodName: String, Sendable, CaseIterable {
    case capitalize, changed, copy, count, cycle, endswith, find, get, index, isalnum, isalpha, isdigit,
        islower, isspace, isupper, items, join, keys, lower, lstrip, removeprefix, removesuffix, replace,
        rfind, rsplit, rstrip, split, splitlines, startswith, strip, title, upper, values

    var signature: Signature {
        switch self {
        case .capitalize, .copy, .isalnum, .isalpha, .isdigit, .islower, .isspace, .isupper, .items, .keys,
            .lower, .title, .upper, .values:
            Signature(byName: false)
        case .changed, .cycle: Signature(open: true)
        case .count, .join: Signature(["value"], required: 1, byName: false)
        case .endswith, .startswith, .find, .rfind, .index:
            Signature(["value", "start", "end"], required: 1, byName: false)
        case .get: Signature(["key", "default"], required: 1, byName: false)
        case .lstrip, .rstrip, .strip: Signature(["chars"], byName: false)
        case .removeprefix, .removesuffix: Signature(["affix"], required: 1, byName: false)
        case .replace: Signature(["old", "new", "count"], required: 2, byName: false)
        case .rsplit, .split: Signature(["sep", "maxsplit"])
        case .splitlines: Signature(["keepends"])
        }
    }

    private static let ofLists: Set<MethodName> = [.copy, .count, .index]
    private static let ofTuples: Set<MethodName> = [.count, .index]
    private static let ofDicts: Set<MethodName> = [.copy, .get, .items, .keys, .values]
    private static let ofLoops: Set<MethodName> = [.changed, .cycle]

    var isOfDicts: Bool { Self.ofDicts.contains(self) }

    /// Whether a value of this type has this method.
    func belongs(to value: Value) -> Bool {
        switch value {
        case .string, .markup:
            !Self.ofLoops.contains(self) && (!Self.ofDicts.contains(self))
        case .list(let list):
            list.kind == .list ? Self.ofLists.contains(self) : !list.isView && Self.ofTuples.contains(self)
        case .dict: Self.ofDicts.contains(self)
        case .loop: Self.ofLoops.contains(self)
        default: false
        }
    }
}

enum FunctionName: String, Sendable, CaseIterable {
    case dict, namespace, range
    case raiseException = "raise_exception"

    var signature: Signature {
        switch self {
        case .dict, .namespace: Signature(open: true)
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
