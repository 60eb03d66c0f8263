import JSON

@_exported import struct Errors.ConstraintFault

/// A loaded JSON Schema: each reachable schema is a node, references are resolved to nodes, patterns are compiled.
/// Immutable, and safe to use from several threads.
package struct Schema: Sendable {
    package let nodes: [SchemaNode]
    package let root: SchemaID
    /// Nodes with several references: a part of an instance may be checked by them repeatedly.
    let shared: Set<SchemaID>
    /// Keywords that the draft doesn't know and that have no effect, in the schema's order.
    package let unknownKeywords: [SchemaMention]
    /// Formats that can't be checked. Some are in the standard: `idn-hostname`.
    package let unknownFormats: [SchemaMention]
    /// Keywords without effect: those beside a `$ref` in draft 7 or older, and a `$schema` of another draft in a schema
    /// without its own URI.
    package let ignoredKeywords: [SchemaMention]

    package subscript(id: SchemaID) -> SchemaNode { nodes[id.index] }
}

extension Schema {
    /// - Parameters:
    ///   - draft: of a document without `$schema`.
    ///   - readsNullable: whether OpenAPI's `nullable` is a keyword.
    /// - Throws: `ConstraintFault`.
    package init(
        _ document: JSONValue, draft: Draft = .draft2020, readsNullable: Bool = false
    ) throws(ConstraintFault) {
        var loader = SchemaLoader(readsNullable: readsNullable)
        self = try loader.load(document, draft)
    }
}

/// The number of a node.
package struct SchemaID: Hashable, Sendable {
    package let index: Int
}

/// One schema: an object, or true or false.
package final class SchemaNode: Sendable {
    /// As a URI fragment, like `#/properties/a`.
    package let pointer: String
    package let draft: Draft
    package let rules: SchemaRules

    init(pointer: String, draft: Draft, rules: SchemaRules) {
        self.pointer = pointer
        self.draft = draft
        self.rules = rules
    }
}

/// A word of the schema, and its place.
package struct SchemaMention: Equatable, Sendable {
    package let name: String
    /// As a URI fragment, like `#/properties/a/format`.
    package let pointer: String

    package init(name: String, pointer: String) {
        self.name = name
        self.pointer = pointer
    }
}
