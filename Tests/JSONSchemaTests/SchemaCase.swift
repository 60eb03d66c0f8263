import JSON
import JSONSchema
import Testing

func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8), limits: .file) }

/// A schema with instances that it takes and instances that it refuses, all as JSON text.
struct SchemaCase: CustomTestStringConvertible, Sendable {
    let schema: String
    var valid: [String] = []
    var invalid: [String] = []
    var draft = Draft.draft2020

    var testDescription: String { "\(draft.name): \(schema)" }

    func check(assertsFormats: Bool = false) throws {
        let schema = try Schema(json(schema), draft: draft)
        for text in valid {
            let violations = schema.violations(of: try json(text), assertsFormats: assertsFormats)
            #expect(violations.isEmpty, "\(text) should be valid")
            #expect(schema.accepts(try json(text), assertsFormats: assertsFormats), "\(text) should be valid")
        }
        for text in invalid {
            let violations = schema.violations(of: try json(text), assertsFormats: assertsFormats)
            #expect(!violations.isEmpty, "\(text) should be invalid")
            #expect(
                !schema.accepts(try json(text), assertsFormats: assertsFormats), "\(text) should be invalid")
        }
    }
}

/// The fault of a schema that must not load.
func fault(_ schema: String, draft: Draft = .draft2020) throws -> ConstraintFault? {
    let value = try json(schema)
    return #expect(throws: ConstraintFault.self) { try Schema(value, draft: draft) }
}
