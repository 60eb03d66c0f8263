import JSON
import JSONSchema

/// A schema that applies to a value, or that must not accept it.
struct AppliedSchema: Hashable, Comparable {
    let id: SchemaID
    let isNegated: Bool

    init(_ id: SchemaID, isNegated: Bool = false) {
        self.id = id
        self.isNegated = isNegated
    }

    static func < (a: AppliedSchema, b: AppliedSchema) -> Bool {
        a.id.index != b.id.index ? a.id.index < b.id.index : !a.isNegated && b.isNegated
    }
}

/// A keyword of a schema; an empty one stands for the schema itself.
struct KeywordPlace: Hashable {
    let node: SchemaID
    let keyword: String
}

/// A value that is written in the schema.
struct Literal: Hashable {
    let value: JSONValue
    let key: ValueKey

    init?(_ value: JSONValue) {
        guard let key = ValueKey(value) else { return nil }
        self.value = value
        self.key = key
    }

    static func == (a: Literal, b: Literal) -> Bool { a.key == b.key }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
