import JSONSchema
import Testing

@testable import TokenConstraints

/// What shapes make of single keywords: each list of values is taken or not, and nothing is left to validation.
struct ShapeKeywordTests {
    private static let cases = [
        ShapeCase(#"{}"#, takes: ["null", "true", "1.5", #""a""#, "[1, {}]", #"{"a": [null]}"#], not: []),
        ShapeCase(#"{"type": "string"}"#, takes: [#""""#], not: ["1", "null", "{}"]),
        ShapeCase(#"{"type": ["string", "null"]}"#, takes: [#""""#, "null"], not: ["1", "true"]),
        ShapeCase(#"{"type": "integer"}"#, takes: ["1", "-7"], not: ["1.5", #""1""#]),
        ShapeCase(#"{"type": "number"}"#, takes: ["1", "1.5"], not: [#""1""#]),
        ShapeCase(#"{"const": {"b": 1, "a": 2}}"#, takes: [#"{"a": 2, "b": 1}"#], not: [#"{"a": 2}"#, "1"]),
        ShapeCase(
            #"{"enum": ["a", 1, null, [2]]}"#, takes: [#""a""#, "1", "null", "[2]"],
            not: [#""b""#, "2", "[]"]),
        ShapeCase(#"{"type": "string", "enum": ["a", 1]}"#, takes: [#""a""#], not: ["1"]),
        ShapeCase(#"{"enum": ["a", "bb"], "minLength": 2}"#, takes: [#""bb""#], not: [#""a""#]),
        ShapeCase(
            #"{"type": "object", "properties": {"a": {"type": "integer"}}}"#,
            takes: ["{}", #"{"a": 1}"#, #"{"z": "x", "a": 1}"#], not: [#"{"a": "x"}"#, "[]"]),
        ShapeCase(
            #"{"type": "object", "properties": {"a": {}}, "additionalProperties": false}"#,
            takes: ["{}", #"{"a": 1}"#], not: [#"{"b": 1}"#]),
        ShapeCase(
            #"{"type": "object", "additionalProperties": {"type": "integer"}}"#,
            takes: ["{}", #"{"a": 1}"#], not: [#"{"b": "x"}"#]),
        ShapeCase(
            #"{"type": "object", "required": ["b", "a"]}"#, takes: [#"{"a": 1, "b": 2}"#], not: [#"{"a": 1}"#]
        ),
        ShapeCase(
            #"{"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": {"type": "null"}}"#,
            takes: ["{}", #"{"x1": 1, "y": null}"#], not: [#"{"x1": null}"#, #"{"y": 1}"#]),
        ShapeCase(
            #"{"type": "object", "patternProperties": {"^x": {"type": "integer"}, "y$": {"minimum": 5}}}"#,
            takes: [#"{"x": 1, "y": 6, "xy": 5, "z": 1.5}"#], not: [#"{"xy": 4}"#, #"{"x": "a"}"#]),
        ShapeCase(
            #"{"type": "object", "properties": {"xa": {"maximum": 3}}, "patternProperties": {"^x": {"type": "integer"}}}"#,
            takes: [#"{"xa": 1}"#], not: [#"{"xa": 1.5}"#, #"{"xa": 4}"#, #"{"xb": 1.5}"#]),
        ShapeCase(
            #"{"type": "object", "minProperties": 1, "maxProperties": 2}"#,
            takes: [#"{"a": 1}"#, #"{"a": 1, "b": 1}"#], not: ["{}", #"{"a": 1, "b": 1, "c": 1}"#]),
        ShapeCase(
            #"{"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2}"#,
            takes: ["[1]", "[1, 2]"], not: ["[]", "[1, 2, 3]", #"["a"]"#]),
        ShapeCase(
            #"{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false}"#,
            takes: ["[]", "[1]", #"[1, "a"]"#], not: [#"["a"]"#, #"[1, "a", 1]"#]),
        ShapeCase(
            #"{"type": "array", "prefixItems": [{"type": "integer"}, false]}"#, takes: ["[]", "[1]"],
            not: ["[1, 1]"]),
        ShapeCase(
            #"{"type": "array", "maxItems": 1, "uniqueItems": true}"#, takes: ["[]", "[1]"], not: ["[1, 2]"]),
        ShapeCase(
            ##"{"$ref": "#/$defs/t", "$defs": {"t": {"type": "object", "properties": {"l": {"$ref": "#/$defs/t"}}, "additionalProperties": false}}}"##,
            takes: ["{}", #"{"l": {"l": {}}}"#], not: [#"{"l": {"x": {}}}"#]),
    ]

    @Test(arguments: cases + ShapeCombinationTests.cases)
    private func decidesAlone(_ one: ShapeCase) throws {
        let shaped = try Shaped(one.schema)
        #expect(shaped.shape.validated == [])
        for text in one.taken { #expect(try shaped.takes(text), "takes \(text)") }
        for text in one.refused { #expect(try !shaped.takes(text), "refuses \(text)") }
    }

    private static let leftOver: [(schema: String, keyword: String, pointer: String)] = [
        (#"{"type": "array", "uniqueItems": true}"#, "uniqueItems", "#/uniqueItems"),
        (#"{"type": "array", "contains": {"type": "null"}}"#, "contains", "#/contains"),
        (#"{"properties": {"a": {"not": {"pattern": "x"}}}}"#, "not", "#/properties/a/not"),
        (
            #"{"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}"#,
            "unevaluatedProperties", "#/unevaluatedProperties"
        ),
        (#"{"oneOf": [{"pattern": "a"}, {"pattern": "b"}]}"#, "oneOf", "#/oneOf"),
        (
            #"{"oneOf": [{"type": "number", "maximum": 8}, {"type": "number", "minimum": 5}]}"#, "oneOf",
            "#/oneOf"
        ),
        (#"{"type": "object", "propertyNames": {"maxLength": 2}}"#, "propertyNames", "#/propertyNames"),
        (
            #"{"properties": {"a": {}}, "unevaluatedProperties": false}"#, "unevaluatedProperties",
            "#/unevaluatedProperties"
        ),
        (#"{"not": {"anyOf": [{"type": "string"}, {"type": "number"}]}}"#, "not", "#/not"),
        (#"{"not": {"const": 1}}"#, "not", "#/not"),
    ]

    @Test(arguments: leftOver)
    func namesWhatIsLeftToValidation(_ schema: String, _ keyword: String, _ pointer: String) throws {
        #expect(try Shaped(schema).shape.validated == [SchemaMention(name: keyword, pointer: pointer)])
    }
}
