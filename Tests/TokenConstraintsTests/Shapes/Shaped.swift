import JSON
import JSONSchema
import Testing

@testable import TokenConstraints

/// A schema's shapes, for tests.
struct Shaped {
    let schema: Schema
    let shape: SchemaShape

    init(_ text: String) throws {
        schema = try Schema(Self.value(text))
        shape = try SchemaShape(schema)
    }

    static func value(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8), limits: .ownLine)
    }

    func takes(_ text: String) throws -> Bool { shape.fitting(try Self.value(text)) != nil }

    var validated: [String] { shape.validated.map(\.name) }
}

/// A schema, with values that its shapes take and values that they do not.
struct ShapeCase: CustomTestStringConvertible {
    let schema: String
    let taken: [String]
    let refused: [String]

    init(_ schema: String, takes taken: [String], not refused: [String]) {
        self.schema = schema
        self.taken = taken
        self.refused = refused
    }

    var testDescription: String { schema }
}
