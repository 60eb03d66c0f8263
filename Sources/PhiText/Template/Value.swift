import Essentials
import JSON

/// A value while a template runs, with Python's types as far as templates can tell them apart.
///
/// Values never change once made, save for namespaces, so lists and dicts can be shared freely.
enum Value {
    case undefined(Undefined)
    case none
    case bool(Bool)
    case int(Int)
    case double(Double)
    /// A number of a line's that is no `int`: it is written as the line has it.
    case written(JSONNumber)
    case string(String)
    case list(ListValue)
    case dict(DictValue)
    case generator(Generator)
    case namespace(Namespace)
    case macro(MacroValue)
    case loop(LoopState)
    case function(FunctionName)
    /// A method taken from a value, as in `text.strip` without a call.
    indirect case method(MethodName, of: Value)

    static func array(_ items: [Value]) -> Value { .list(ListValue(items, .list)) }
    static func tuple(_ items: [Value]) -> Value { .list(ListValue(items, .tuple)) }

    var text: String? {
        if case .string(let text) = self { return text }
        return nil
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

    var isWritten: Bool {
        if case .written = self { return true }
        return false
    }

    /// An integer that does not fit 64 bits.
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
        case .generator(let generator): generator.depth
        case .method(_, let receiver): receiver.depth + 1
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
        case .list(let list): list.kind == .tuple ? "a tuple" : "a list"
        case .dict: "a dict"
        case .generator: "a generator"
        case .namespace: "a namespace"
        case .macro: "a macro"
        case .loop: "the loop object"
        case .function: "a function"
        case .method: "a method"
        }
    }
}

/// Why a value is missing, for the message when it is used after all.
final class Undefined {
    let message: String
    /// Whether even strict templates may print and test it: an `if` without `else` gives nothing on purpose.
    let isIntended: Bool

    init(_ message: String, isIntended: Bool = false) {
        self.message = message
        self.isIntended = isIntended
    }
}

/// A list, a tuple, or one of Python's list-like objects that differ in little more than how they print.
final class ListValue {
    enum Kind: Equatable {
        case list
        case tuple
        case range
        /// Result of a dict's `keys()`, `values()` and `items()`: it has a length but can't be indexed.
        case view
    }

    let items: [Value]
    let kind: Kind
    let depth: Int

    init(_ items: [Value], _ kind: Kind) {
        self.items = items
        self.kind = kind
        depth = 1 + items.reduce(0) { max($0, $1.depth) }
    }
}

/// Result of filters like `map`: it can be gone through once, and is true even when empty.
final class Generator {
    private var items: ArraySlice<Value>
    let depth: Int

    init(_ items: [Value]) {
        self.items = items[...]
        depth = 1 + items.reduce(0) { max($0, $1.depth) }
    }

    func next() -> Value? { items.popFirst() }

    func rest() -> [Value] {
        defer { items = [] }
        return Array(items)
    }
}

/// The one kind of object that a template may change.
final class Namespace {
    var members = OrderedMembers()
}

final class MacroValue {
    let definition: MacroDefinition
    let scope: Scope
    init(_ definition: MacroDefinition, _ scope: Scope) {
        self.definition = definition
        self.scope = scope
    }
}

/// The `loop` variable of one running loop.
final class LoopState {
    let items: [Value]
    var index = 0
    init(_ items: [Value]) { self.items = items }
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
