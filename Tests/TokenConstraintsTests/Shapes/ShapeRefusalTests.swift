import JSONSchema
import Testing

@testable import TokenConstraints

/// Schemas that nothing obeys, and those that are large.
struct ShapeRefusalTests {
    private static let impossible: [(schema: String, pointer: String)] = [
        ("false", "#"),
        (#"{"type": "object", "properties": {"a": false}, "required": ["a"]}"#, "#/properties/a"),
        (
            #"{"type": "object", "properties": {"a": {"type": "string", "enum": [1]}}, "required": ["a"]}"#,
            "#/properties/a"
        ),
        (#"{"allOf": [{"type": "string"}, {"type": "number"}]}"#, "#"),
        (#"{"type": "number", "minimum": 3, "maximum": 2}"#, "#"),
        (##"{"type": "object", "properties": {"n": {"$ref": "#"}}, "required": ["n"]}"##, "#"),
        (##"{"type": "array", "items": {"$ref": "#"}, "minItems": 1}"##, "#"),
        (#"{"type": "object", "additionalProperties": false, "minProperties": 1}"#, "#"),
        (#"{"type": "object", "maxProperties": 1, "required": ["a", "b"]}"#, "#"),
        (#"{"type": "object", "not": {}}"#, "#"),
    ]

    @Test(arguments: impossible)
    func refusesWhatNothingObeys(_ schema: String, _ pointer: String) throws {
        let fault = #expect(throws: ConstraintFault.self) { try Shaped(schema) }
        #expect(fault?.kind == .unsatisfiable)
        #expect(fault?.pointer == pointer)
    }

    @Test func optionalMembersThatCanNotBeAreLeftOut() throws {
        let shaped = try Shaped(
            #"{"type": "object", "properties": {"a": {"allOf": [{"type": "null"}, {"type": "string"}]}, "b": {}}}"#
        )
        guard case .object(let object)? = shaped.shape.shape[shaped.shape.shape.root].shapes.first else {
            Issue.record("no object")
            return
        }
        #expect(object.members.map(\.name) == ["b"])
        #expect(object.reserved.contains("a"))
        #expect(try !shaped.takes(#"{"a": null}"#))
    }

    @Test func arraysEndBeforeItemsThatCanNotBe() throws {
        let shaped = try Shaped(
            #"{"type": "array", "prefixItems": [{}, {"allOf": [{"type": "null"}, {"type": "string"}]}]}"#)
        #expect(shaped.validated == [])
        #expect(try shaped.takes("[1]"))
        #expect(try !shaped.takes("[1, null]"))
    }

    @Test func countsTheBytesOfTheShortestValue() throws {
        let shaped = try Shaped(
            #"{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "boolean"}, "minItems": 2}}, "required": ["a"]}"#
        )
        #expect(shaped.shape.shape[shaped.shape.shape.root].fewestBytes == #"{"a":[true,true]}"#.utf8.count)
    }

    @Test func namesOfACertainFormCanBeAskedFor() throws {
        let shaped = try Shaped(
            #"{"type": "object", "patternProperties": {"^x...$": {"type": "null"}}, "additionalProperties": false, "minProperties": 2}"#
        )
        #expect(
            shaped.shape.shape[shaped.shape.shape.root].fewestBytes
                == #"{"x000":null,"x001":null}"#.utf8.count)
        #expect(try shaped.takes(#"{"xabc": null, "xabd": null}"#))
        #expect(try !shaped.takes(#"{"xabc": null}"#))
    }

    @Test func manyChoicesAtOnceAreLeftToValidation() throws {
        let choices = (0..<10).map { i in
            #"{"anyOf": [{"required": ["a\#(i)"]}, {"required": ["b\#(i)"]}, {"required": ["c\#(i)"]}]}"#
        }
        let shaped = try Shaped(#"{"type": "object", "allOf": [\#(choices.joined(separator: ","))]}"#)
        #expect(shaped.validated.contains("allOf"))
        let value = (0..<10).map { #""a\#($0)": 1"# }.joined(separator: ",")
        #expect(try shaped.takes("{\(value)}"))
    }

    @Test func conjunctionsThatMultiplyAreBounded() throws {
        // Each level conjoins both ways, so that sets of schemas double.
        var defs: [String] = []
        for i in 0..<40 {
            let next = "\((i + 1) % 40)"
            defs.append(
                ##""d\##(i)": {"type": "object", "properties": {"a": {"allOf": [{"$ref": "#/$defs/d\##(next)"}, {"$ref": "#/$defs/d\##((i * 7 + 3) % 40)"}]}, "b": {"$ref": "#/$defs/d\##((i * 3 + 1) % 40)"}}}"##
            )
        }
        let shaped = try Shaped(##"{"$ref": "#/$defs/d0", "$defs": {\##(defs.joined(separator: ","))}}"##)
        #expect(try shaped.takes(#"{"a": {"b": {}}}"#))
    }

    @Test func schemasFarWithinEachOtherAreLeftToValidation() throws {
        let defs = (0..<150).map {
            ##""d\##($0)": {"allOf": [{"$ref": "#/$defs/d\##($0 + 1)"}], "minLength": 1}"##
        }
        let shaped = try Shaped(
            ##"{"$ref": "#/$defs/d0", "$defs": {\##(defs.joined(separator: ",")), "d150": {"type": "string"}}}"##
        )
        #expect(try shaped.takes(#""a""#))
        #expect(!shaped.validated.isEmpty)
    }

    @Test func tooManyLiteralsAreRefused() throws {
        let value = String(repeating: "x", count: ShapeLimits.literalBytes)
        let fault = #expect(throws: ConstraintFault.self) {
            try Shaped(#"{"properties": {"a": {"const": "\#(value)"}}}"#)
        }
        #expect(fault?.kind == .tooLarge)
        #expect(fault?.pointer == "#/properties/a")
    }
}
