import Essentials
import JSON

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
