import FoundationShim
import JSON

/// A value at run time, with Python's types as far as templates can distinguish them.
///
/// Values are immutable, except namespaces and generators, so lists and dicts can be shared freely.
enum Value {
    /// Missing, with the reason. Even strict templates may print and test an intended one, such as an `if` without
    /// `else`.
    case undefined(String, isIntended: Bool = false)
    case none
    case bool(Bool)
    case int(Int)
    case double(Double)
    /// A line's number that is no `int`, printed as in the line.
    case written(JSONNumber)
    case string(String)
    case list(ListValue)
    case dict(DictValue)
    case namespace(Namespace)
    /// A macro, with its outer scope.
    case macro(MacroDefinition, Scope)
    case loop(LoopState)
    /// A function, or a value's method, that is not called. Templates can only test that it exists.
    case callable

    static func tuple(_ items: [Value]) -> Value { .list(ListValue(items, .tuple)) }

    var text: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    var isNone: Bool {
        if case .none = self { return true }
        return false
    }

    /// Value of a bool or an int, which Python treats alike.
    var integer: Int? {
        switch self {
        case .int(let value): value
        case .bool(let value): value ? 1 : 0
        case .written(let number): Int(number.text)
        default: nil
        }
    }

    var number: Double? {
        switch self {
        case .double(let value): value
        case .written(let number): number.value
        default: integer.map(Double.init)
        }
    }

    /// Whether it is an integer beyond 64 bits.
    var isFarInteger: Bool {
        if case .written(let number) = self { return number.isWhole && Int(number.text) == nil }
        return false
    }

    /// A finite number as a decimal.
    var exactNumber: ExactNumber? {
        switch self {
        case .written(let number): ExactNumber(number)
        case .double(let value): value.isFinite ? ExactNumber(value) : nil
        default: integer.map { ExactNumber($0) }
        }
    }

    /// Nesting of lists and dicts in this value.
    var depth: Int {
        switch self {
        case .list(let list): list.depth
        case .dict(let dict): dict.depth
        default: 0
        }
    }

    /// Name of this value's type in messages.
    var typeName: String {
        switch self {
        case .undefined: "an undefined value"
        case .none: "none"
        case .bool: "a boolean"
        case .int: "an integer"
        case .double: "a float"
        case .written(let number): number.isWhole ? "an integer" : "a float"
        case .string: "a string"
        case .list(let list): "a \(list.kind)"
        case .dict: "a dict"
        case .namespace: "a namespace"
        case .macro: "a macro"
        case .loop: "the loop object"
        case .callable: "a function or method"
        }
    }
}

/// A list, a tuple, or a list-like object of Python, which differ mostly in how they print.
final class ListValue {
    enum ListType {
        case list
        case tuple
        case range
        /// Result of a dict's `keys()` and `items()`: it has a length but can't be indexed.
        case view
        /// Result of filters like `map`: it can be iterated once, has no length, and is true even when empty.
        case generator
    }

    /// Only a generator's change: it loses those taken.
    private(set) var items: [Value]
    let kind: ListType
    let depth: Int

    init(_ items: [Value], _ kind: ListType) {
        self.items = items
        self.kind = kind
        depth = 1 + items.reduce(0) { max($0, $1.depth) }
    }

    /// Whether it is a list or tuple, which can be printed, added and sliced.
    var isPlain: Bool { kind == .list || kind == .tuple }

    /// Takes at most so many elements for iteration.
    func take(_ count: Int = .max) -> [Value] {
        let taken = items.count <= count ? items : Array(items.prefix(count))
        if kind == .generator { items.removeFirst(taken.count) }
        return taken
    }
}

/// The only mutable object.
final class Namespace {
    var members = OrderedMembers()
}

/// The `loop` variable of a running loop.
final class LoopState {
    let items: [Value]
    var index = 0
    init(_ items: [Value]) { self.items = items }

    static let members: [String: @Sendable (LoopState) -> Value] = [
        "index": { .int($0.index + 1) },
        "index0": { .int($0.index) },
        "first": { .bool($0.index == 0) },
        "last": { .bool($0.index == $0.items.count - 1) },
        "length": { .int($0.items.count) },
        "previtem": { $0.index > 0 ? $0.items[$0.index - 1] : .undefined("there is no previous item") },
        "nextitem": {
            $0.index + 1 < $0.items.count ? $0.items[$0.index + 1] : .undefined("there is no next item")
        },
    ]
}

/// Variables of one block, with a link to the outer block.
final class Scope {
    var variables: [Int: Value] = [:]
    /// Whether the evaluator empties it at the end, because a macro holds it.
    var isRemembered = false
    let parent: Scope?
    init(parent: Scope?) { self.parent = parent }

    func lookup(_ symbol: Int) -> Value? {
        var scope: Scope? = self
        while let current = scope {
            if let value = current.variables[symbol] { return value }
            scope = current.parent
        }
        return nil
    }
}

// MARK: Dicts

/// Key of a dict as in Python: equal numbers are one key whatever their type.
enum DictKey: Hashable {
    case none
    case undefined
    case int(Int)
    case double(Double)
    case exact(ExactNumber)
    case string(ExactText)

    /// Nil for values that can't be keys (lists, dicts and such).
    init?(_ value: Value) {
        switch value {
        case .none: self = .none
        case .undefined: self = .undefined
        case .bool(let value): self = .int(value ? 1 : 0)
        case .int(let value): self = .int(value)
        case .double, .written:
            guard let number = value.exactNumber else {
                self = .double(value.number ?? 0)
                return
            }
            self = number.integer.map(DictKey.int) ?? .exact(number)
        case .string(let text): self = .string(ExactText(text))
        default: return nil
        }
    }
}

/// Key-value pairs in the order in which the keys were first added.
struct OrderedMembers {
    private(set) var keys: [Value] = []
    private(set) var values: [Value] = []
    private var index: [DictKey: Int] = [:]

    var count: Int { keys.count }

    subscript(key: DictKey) -> Value? { index[key].map { values[$0] } }

    subscript(name: String) -> Value? { self[.string(ExactText(name))] }

    mutating func set(_ key: DictKey, _ original: Value, _ value: Value) {
        if let at = index[key] {
            values[at] = value
        } else {
            index[key] = keys.count
            keys.append(original)
            values.append(value)
        }
    }

    mutating func set(_ name: String, _ value: Value) {
        set(.string(ExactText(name)), .string(name), value)
    }
}

final class DictValue {
    let members: OrderedMembers
    let depth: Int

    init(_ members: OrderedMembers) {
        self.members = members
        let deepest = members.values.reduce(0) { max($0, $1.depth) }
        depth = 1 + members.keys.reduce(deepest) { max($0, $1.depth) }
    }

    var pairs: [Value] { zip(members.keys, members.values).map { .tuple([$0, $1]) } }
}
