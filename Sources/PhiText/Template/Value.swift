import FoundationShim
import JSON

/// A value while a template runs, with Python's types as far as templates can tell them apart.
///
/// Values never change once made, save for namespaces and generators, so lists and dicts can be shared freely.
enum Value {
    /// With the reason why it is missing. Even strict templates may print and test an intended one: an `if` without `else`
    /// gives nothing on purpose.
    case undefined(String, isIntended: Bool = false)
    case none
    case bool(Bool)
    case int(Int)
    case double(Double)
    /// A number of a line's that is no `int`: it is written as the line has it.
    case written(JSONNumber)
    case string(String)
    case list(ListValue)
    case dict(DictValue)
    case namespace(Namespace)
    /// A macro, and the variables around it.
    case macro(MacroDefinition, Scope)
    case loop(LoopState)
    /// A function, or a value's method, that is not called. Templates can only ask whether it is there.
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

    /// The number of a bool or an int, which Python takes for each other.
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

    /// Whether it is an integer that does not fit 64 bits.
    var isFarInteger: Bool {
        if case .written(let number) = self { return number.isWhole && Int(number.text) == nil }
        return false
    }

    /// A number as a decimal, but for those that are infinite or none.
    var exactNumber: ExactNumber? {
        switch self {
        case .written(let number): ExactNumber(number)
        case .double(let value): value.isFinite ? ExactNumber(value) : nil
        default: integer.map { ExactNumber($0) }
        }
    }

    /// Depth to which lists and dicts are nested in this value.
    var depth: Int {
        switch self {
        case .list(let list): list.depth
        case .dict(let dict): dict.depth
        default: 0
        }
    }

    /// Name of a value of this type in messages.
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

/// A list, a tuple, or one of Python's list-like objects that differ in little more than how they print.
final class ListValue {
    enum Kind {
        case list
        case tuple
        case range
        /// Result of a dict's `keys()` and `items()`: it has a length but can't be indexed.
        case view
        /// Result of filters like `map`: it can be gone through once, has no length, and is true even when empty.
        case generator
    }

    /// Only a generator's change: it loses those that are taken.
    private(set) var items: [Value]
    let kind: Kind
    let depth: Int

    init(_ items: [Value], _ kind: Kind) {
        self.items = items
        self.kind = kind
        depth = 1 + items.reduce(0) { max($0, $1.depth) }
    }

    /// Whether it is a list or tuple, which can be written, added and sliced.
    var isPlain: Bool { kind == .list || kind == .tuple }

    /// The elements, at most so many, for someone who goes through them.
    func take(_ count: Int = .max) -> [Value] {
        let taken = items.count <= count ? items : Array(items.prefix(count))
        if kind == .generator { items.removeFirst(taken.count) }
        return taken
    }
}

/// The one kind of object that a template may change.
final class Namespace {
    var members = OrderedMembers()
}

/// The `loop` variable of one running loop.
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

/// The variables of one block, with the blocks around it.
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

/// Key as Python hashes it: equal numbers are one key whatever their type.
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

/// Key-value pairs in the order in which the keys first came.
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
