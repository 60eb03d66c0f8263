import JSONSchema
import Testing

@testable import TokenConstraints

/// Members that a schema doesn't name come where it says something of them, or a job opens its objects.
@Suite struct OtherMembersTests {
    private static let pets =
        ##""$defs":{"A":{"properties":{"k":{"const":"a"},"n":{"type":"integer"}},"required":["k"]},"##
        + ##""B":{"properties":{"k":{"const":"b"},"s":{"type":"string"}},"required":["k"]}}"##

    static let cases = [
        ShapeCase(
            #"{"properties":{"a":{"type":"integer"}}}"#, takes: ["{}", #"{"a":1}"#, "7"],
            not: [#"{"b":1}"#, #"{"a":1,"b":1}"#]),
        ShapeCase(#"{"type":"object","properties":{}}"#, takes: ["{}"], not: [#"{"a":1}"#]),
        // Nothing is named: any object.
        ShapeCase(#"{"type":"object"}"#, takes: ["{}", #"{"a":1}"#], not: ["1"]),
        ShapeCase("true", takes: ["1", #"{"a":1}"#], not: []),
        ShapeCase(
            #"{"properties":{"a":{}},"required":["a","b"]}"#, takes: [#"{"a":1,"b":1}"#],
            not: [#"{"a":1,"b":1,"c":1}"#]),
        // Those of all schemas for the object count, but of no other branch.
        ShapeCase(
            #"{"properties":{"a":{}},"allOf":[{"properties":{"b":{}}},{"required":["c"]}]}"#,
            takes: [#"{"a":1,"b":1,"c":1}"#, #"{"c":1}"#], not: [#"{"c":1,"d":1}"#]),
        ShapeCase(
            ##"{"$ref":"#/$defs/A","properties":{"x":{}},\##(pets)}"##, takes: [#"{"k":"a","x":1}"#],
            not: [#"{"k":"a","s":"t"}"#]),
        ShapeCase(
            ##"{"oneOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}],\##(pets)}"##,
            takes: [#"{"k":"a","n":1}"#, #"{"k":"b","s":"t"}"#],
            not: [#"{"k":"a","s":"t"}"#, #"{"k":"b","x":1}"#]),
        ShapeCase(
            #"{"anyOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}"#,
            takes: [#"{"a":1}"#, #"{"b":1}"#], not: [#"{"a":1,"b":1}"#]),
        // What one branch names is junk in another, even where it makes the other one fail.
        ShapeCase(
            #"{"type":"object","oneOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]},"#
                + #"{"properties":{"b":{"type":"integer"}},"required":["b"]}]}"#,
            takes: [#"{"a":1}"#, #"{"b":1}"#], not: [#"{"a":1,"b":"junk"}"#]),
        ShapeCase(
            #"{"properties":{"k":{"enum":["x","y"]}},"required":["k"],"if":{"properties":{"k":{"const":"x"}}},"#
                + #""then":{"properties":{"w":{}},"required":["w"]}}"#,
            takes: [#"{"k":"x","w":1}"#, #"{"k":"y"}"#],
            not: [#"{"k":"y","w":1}"#, #"{"k":"x","w":1,"q":1}"#]),
        ShapeCase(
            #"{"properties":{"a":{}},"dependentRequired":{"a":["z"]}}"#, takes: [#"{"a":1,"z":1}"#, "{}"],
            not: [#"{"a":1}"#, #"{"a":1,"z":1,"y":1}"#]),
        // Opened.
        ShapeCase(#"{"properties":{"a":{}},"additionalProperties":true}"#, takes: [#"{"b":1}"#], not: []),
        ShapeCase(
            #"{"properties":{"a":{}},"additionalProperties":{"type":"string"}}"#, takes: [#"{"b":"c"}"#],
            not: [#"{"b":1}"#]),
        ShapeCase(#"{"properties":{"a":{}},"unevaluatedProperties":true}"#, takes: [#"{"b":1}"#], not: []),
        ShapeCase(
            #"{"properties":{"a":{}},"allOf":[{"unevaluatedProperties":true}]}"#, takes: [#"{"b":1}"#],
            not: []),
        ShapeCase(
            #"{"properties":{"a":{}},"patternProperties":{"^x":{"type":"integer"}}}"#,
            takes: [#"{"a":1,"x1":1}"#], not: [#"{"x1":"y"}"#, #"{"b":1}"#]),
        // Without others there is no answer.
        ShapeCase(
            #"{"properties":{"a":{}},"minProperties":3}"#, takes: [#"{"a":1,"b":1,"c":1}"#],
            not: [#"{"a":1}"#]),
        // Names that begin with one which is past.
        ShapeCase(
            #"{"properties":{"age":{"type":"integer"},"name":{}},"additionalProperties":{"type":"string"}}"#,
            takes: [#"{"age":3,"na":"x","ag":"y"}"#],
            not: [#"{"age":3,"name":"x","names":"y"}"#, #"{"age2":"y"}"#]),
        ShapeCase(
            #"{"properties":{"n":{}},"patternProperties":{"^n[0-9]$":{}}}"#, takes: [#"{"n":1,"n1":2}"#],
            not: []),
    ]

    @Test(arguments: cases) func theyComeWhereTheSchemaSaysSo(_ one: ShapeCase) throws {
        let schema = try Schema(Shaped.value(one.schema))
        let shape = try SchemaShape(schema, others: .ifAsked)
        for text in one.taken { #expect(try shape.fitting(Shaped.value(text)) != nil, "\(text)") }
        for text in one.refused { #expect(try shape.fitting(Shaped.value(text)) == nil, "\(text)") }
        // Whatever may come is valid all the same.
        for text in one.taken { #expect(schema.accepts(try Shaped.value(text)), "\(text)") }
    }

    @Test func openObjectsAreNamed() throws {
        func open(_ schema: String, _ others: OtherMembers = .ifAsked) throws -> [String] {
            try SchemaShape(Schema(Shaped.value(schema)), others: others).openObjects.map(\.pointer)
        }
        let nested =
            #"{"properties":{"a":{"properties":{"b":{}}},"c":{"type":"object"},"d":{"additionalProperties":{}}}}"#
        #expect(try open(nested) == ["#/properties/c", "#/properties/d"])
        #expect(try open(nested, .apart) == ["#", "#/properties/a", "#/properties/c", "#/properties/d"])
    }

    /// A name is left at the letter that would leave nothing but one that nobody means.
    @Test func namesStayApart() throws {
        let schema = try Schema(
            Shaped.value(
                #"{"properties":{"age":{"type":"integer"}},"required":["age"],"additionalProperties":{"type":"integer"}}"#
            ))
        for (others, isTaken) in [(OtherMembers.ifAsked, false), (.apart, false), (.asAllowed, true)] {
            let grammar = try AnswerGrammar(schema, layout: .init(others: others), tokens: .ofBytes)
            var constraint = grammar.constraint(maxTokens: 1000)
            for byte in #"{"age":3,"ag"#.utf8 {
                let isAccepted = constraint.accept(Int32(byte))
                #expect(isAccepted)
            }
            #expect(constraint.allowed()[Int32(UInt8(ascii: "e"))] == isTaken)
            #expect(constraint.allowed()[Int32(UInt8(ascii: "o"))])
        }
    }
}
