import JSON
import JSONSchema
import Testing

@testable import TokenConstraints

/// Schemas that apply to the same value, and their contraries.
struct ShapeCombinationTests {
    static let cases = [
        ShapeCase(
            #"{"allOf": [{"type": "object", "properties": {"a": {"type": "number"}}}, {"properties": {"a": {"enum": [1, "x"]}}, "required": ["a"]}]}"#,
            takes: [#"{"a": 1}"#], not: [#"{"a": 2}"#, #"{"a": "x"}"#, "{}"]),
        ShapeCase(
            #"{"anyOf": [{"type": "string"}, {"type": "null"}, {"enum": ["a", 7]}]}"#,
            takes: [#""b""#, "null", "7"], not: ["8", "true"]),
        ShapeCase(
            #"{"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}"#,
            takes: [#"{"a": 1}"#, #"{"b": 1}"#, #"{"a": 1, "b": 1}"#], not: ["{}", #"{"c": 1}"#]),
        ShapeCase(
            #"{"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}"#,
            takes: [#"{"a": 1}"#, #"{"b": 1}"#], not: ["{}", #"{"a": 1, "b": 1}"#]),
        ShapeCase(
            #"{"oneOf": [{"type": "string"}, {"enum": ["a", 1]}]}"#, takes: [#""b""#, "1"],
            not: [#""a""#, "2"]),
        ShapeCase(
            #"{"type": "object", "required": ["k"], "oneOf": [{"properties": {"k": {"const": 1}, "a": {"type": "null"}}}, {"properties": {"k": {"const": 2}, "a": {"type": "string"}}}]}"#,
            takes: [#"{"k": 1, "a": null}"#, #"{"k": 2, "a": ""}"#],
            not: [#"{"k": 1, "a": ""}"#, #"{"k": 3}"#]),
        ShapeCase(
            #"{"type": "object", "if": {"properties": {"k": {"const": "x"}}, "required": ["k"]}, "then": {"required": ["a"]}, "else": {"required": ["b"]}}"#,
            takes: [#"{"k": "x", "a": 0}"#, #"{"k": "y", "b": 0}"#, #"{"b": 0}"#],
            not: [#"{"k": "x", "b": 0}"#, "{}"]),
        ShapeCase(
            #"{"not": {"type": ["object", "array", "null"]}}"#, takes: [#""a""#, "1", "true"],
            not: ["{}", "[]", "null"]),
        ShapeCase(#"{"type": "string", "not": {"enum": ["a", 1]}}"#, takes: [#""b""#], not: [#""a""#]),
        ShapeCase(
            #"{"type": "object", "not": {"required": ["a", "b"]}}"#, takes: [#"{"a": 1}"#, "{}"],
            not: [#"{"a": 1, "b": 1}"#]),
        ShapeCase(
            #"{"type": "object", "not": {"properties": {"a": {"type": "string"}}, "required": ["a"]}}"#,
            takes: ["{}", #"{"a": 1}"#], not: [#"{"a": "x"}"#]),
        ShapeCase(
            #"{"type": "object", "dependentRequired": {"a": ["b"]}}"#,
            takes: ["{}", #"{"a": 1, "b": 1}"#, #"{"b": 1}"#], not: [#"{"a": 1}"#]),
        ShapeCase(
            #"{"type": "object", "dependentSchemas": {"a": {"properties": {"b": {"type": "null"}}}}}"#,
            takes: [#"{"b": 1}"#, #"{"a": 1, "b": null}"#], not: [#"{"a": 1, "b": 1}"#]),
        ShapeCase(
            ##"{"$ref": "#/$defs/a", "required": ["x"], "$defs": {"a": {"type": "object", "properties": {"x": {"type": "null"}}}}}"##,
            takes: [#"{"x": null}"#], not: ["{}", #"{"x": 1}"#]),
    ]

    @Test func putsMembersIntoTheSchemasOrder() throws {
        let shaped = try Shaped(
            #"{"type": "object", "properties": {"b": {"type": "object", "properties": {"y": {}, "x": {}}}, "a": {}}, "required": ["r"]}"#
        )
        let value = try Shaped.value(#"{"z": 1, "r": 2, "a": 3, "b": {"q": 1, "x": 1, "y": 2}}"#)
        #expect(
            shaped.shape.fitting(value).map { JSONWriter.text(of: $0) }
                == #"{"b":{"y":2,"x":1,"q":1},"a":3,"r":2,"z":1}"#)
    }

    @Test func joinsBranchesThatDifferInTypesOnly() throws {
        let shaped = try Shaped(
            #"{"anyOf": [{"type": "string"}, {"enum": ["a", null]}, {"const": true}, {"type": "string"}]}"#)
        #expect(shaped.shape.shape[shaped.shape.shape.root].shapes.count == 2)
    }
}
