import JSON
import Regex

/// The keywords of one schema; missing ones are nil or empty.
package struct SchemaRules: Sendable {
    /// The verdict of the schemas `true` and `false`.
    package var verdict: Bool?
    /// Whether null is always valid: OpenAPI's `nullable`.
    package var isNullable = false
    package var types: JSONTypes?
    package var constant: ValueSet?
    package var enumeration: ValueSet?
    package var number: Shared<NumberRules>?
    package var string: Shared<StringRules>?
    package var array: Shared<ArrayRules>?
    package var object: Shared<ObjectRules>?
    package var combined: Shared<CombinedRules>?
    /// `$ref`.
    package var reference: SchemaID?
}

/// Rules shared by all readers: copies of so many fields would be costly.
@dynamicMemberLookup
package final class Shared<Rules: Sendable>: Sendable {
    package let rules: Rules

    init(_ rules: Rules) { self.rules = rules }

    @inline(__always) package subscript<Value>(dynamicMember member: KeyPath<Rules, Value>) -> Value {
        rules[keyPath: member]
    }
}

package struct NumberRules: Sendable {
    package internal(set) var multipleOf: ExactNumber?
    package internal(set) var minimum: ExactNumber?
    /// In draft 4 also the `minimum` beside `exclusiveMinimum: true`.
    package internal(set) var exclusiveMinimum: ExactNumber?
    package internal(set) var maximum: ExactNumber?
    package internal(set) var exclusiveMaximum: ExactNumber?
}

package struct StringRules: Sendable {
    /// In Unicode scalars, as is the maximum.
    package internal(set) var minLength = 0
    package internal(set) var maxLength: Int?
    package internal(set) var pattern: ECMARegex?
    /// Asserted only on request.
    package internal(set) var format: String?
}

package struct ArrayRules: Sendable {
    /// One for each of the first items: `prefixItems`, before 2020-12 `items` with a list.
    package internal(set) var prefix: [SchemaID] = []
    /// For later items: `items`, before 2020-12 `additionalItems` after a list.
    package internal(set) var rest: SchemaID?
    package internal(set) var contains: SchemaID?
    package internal(set) var minContains = 1
    package internal(set) var maxContains: Int?
    package internal(set) var minItems = 0
    package internal(set) var maxItems: Int?
    package internal(set) var isUnique = false
    package internal(set) var unevaluated: SchemaID?
}

package struct ObjectRules: Sendable {
    /// In the schema's order.
    package internal(set) var properties: [(name: String, schema: SchemaID)] = []
    package internal(set) var patterns: [(pattern: ECMARegex, schema: SchemaID)] = []
    package internal(set) var additional: SchemaID?
    package internal(set) var names: SchemaID?
    package internal(set) var required: [String] = []
    package internal(set) var minProperties = 0
    package internal(set) var maxProperties: Int?
    /// Names required beside one that is there: `dependentRequired`, or `dependencies`.
    package internal(set) var dependentRequired: [(name: String, needed: [String], keyword: String)] = []
    /// Schemas of the whole object if a name is there: `dependentSchemas`, or `dependencies`.
    package internal(set) var dependentSchemas: [(name: String, schema: SchemaID, keyword: String)] = []
    package internal(set) var unevaluated: SchemaID?
    // Indices in `properties`: an object compares names by their bytes, which a dictionary would not.
    private var places = JSONObject()
    package internal(set) var hasProperties = false

    /// Whether members are named, or matched by patterns.
    package var namesMembers: Bool { hasProperties || !patterns.isEmpty || !required.isEmpty }

    mutating func add(_ name: String, _ schema: SchemaID) {
        places[name] = .int(properties.count)
        properties.append((name, schema))
    }

    fileprivate func property(_ name: String) -> SchemaID? {
        guard case .int(let place)? = places[name] else { return nil }
        return properties[place].schema
    }
}

extension Shared<ObjectRules> {
    /// The schema of `properties` for a name.
    package func property(_ name: String) -> SchemaID? { rules.property(name) }
}

package struct CombinedRules: Sendable {
    package internal(set) var allOf: [SchemaID] = []
    package internal(set) var anyOf: [SchemaID] = []
    package internal(set) var oneOf: [SchemaID] = []
    package internal(set) var not: SchemaID?
    package internal(set) var condition: SchemaID?
    package internal(set) var then: SchemaID?
    package internal(set) var otherwise: SchemaID?
}
