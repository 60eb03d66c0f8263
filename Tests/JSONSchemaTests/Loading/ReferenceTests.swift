import JSONSchema
import Testing

@Suite struct ReferenceTests {
    @Test(arguments: [
        SchemaCase(
            schema: ##"{"$ref":"#/$defs/a~1b%25","$defs":{"a/b%":{"type":"string"}}}"##, valid: ["\"a\""],
            invalid: ["1"]),
        SchemaCase(
            schema: ##"{"properties":{"next":{"$ref":"#"}},"additionalProperties":false}"##,
            valid: [#"{"next":{"next":{}}}"#],
            invalid: [#"{"next":{"a":1}}"#]),
        SchemaCase(
            schema: ##"{"$ref":"#x","maximum":3,"$defs":{"a":{"$anchor":"x","minimum":1}}}"##, valid: ["2"],
            invalid: ["0", "4"]),
        SchemaCase(
            schema:
                ##"{"definitions":{"a":{"minimum":1}},"properties":{"b":{"$ref":"#/definitions/a","maximum":3}}}"##,
            valid: [#"{"b":4}"#], invalid: [#"{"b":0}"#], draft: .draft7),
        SchemaCase(
            schema: ##"{"definitions":{"a":{"$id":"#x","minimum":1}},"allOf":[{"$ref":"#x"}]}"##,
            valid: ["1"],
            invalid: ["0"], draft: .draft7),
        SchemaCase(
            schema:
                ##"{"$id":"http://a.b/base/x.json","$ref":"y.json#/$defs/n","$defs":{"y":{"$id":"/base/y.json","$defs":{"n":{"$ref":"#m"},"m":{"$anchor":"m","type":"null"}}}}}"##,
            valid: ["null"], invalid: ["1"]),
        SchemaCase(
            schema:
                ##"{"id":"http://a.b/","items":{"id":"c/","$ref":"#/definitions/n"},"definitions":{"n":{"type":"null"}}}"##,
            valid: ["[null]"], invalid: ["[1]"], draft: .draft4),
        SchemaCase(
            schema: ##"{"$ref":"#/x-parts/0","x-parts":[{"type":"null"}]}"##, valid: ["null"], invalid: ["1"]),
        SchemaCase(
            schema: ##"{"const":{"$ref":"#/nowhere"}}"##, valid: [##"{"$ref":"#/nowhere"}"##], invalid: ["1"]),
        SchemaCase(
            schema: ##"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"null"}]}"##,
            valid: ["[null,1]"], invalid: ["[1]"]),
    ])
    func reference(_ one: SchemaCase) throws { try one.check() }

    @Test func referencesThatLeadNowhereAreRefused() throws {
        let cases: [(String, ConstraintFault.Reason, String)] = [
            (##"{"items":{"$ref":"#/$defs/a"}}"##, .unresolved, "#/items/$ref"),
            (##"{"$ref":"#a"}"##, .unresolved, "#/$ref"),
            (##"{"$ref":"#/minimum","minimum":1}"##, .unresolved, "#/$ref"),
            (##"{"$ref":"#/%FF"}"##, .malformed, "#/$ref"),
            (##"{"$ref":"#/a~2"}"##, .malformed, "#/$ref"),
            (##"{"properties":{"a/b":{"$ref":"http://x.y/z"}}}"##, .remote, "#/properties/a~1b/$ref"),
            (
                ##"{"items":{"$ref":"http://json-schema.org/draft-07/schema#"}}"##, .remote, "#/items/$ref"
            ),
            (##"{"items":{"$dynamicRef":"#a"}}"##, .unusable, "#/items/$dynamicRef"),
            (##"{"$schema":"http://x.y/z"}"##, .unknownDialect, "#/$schema"),
            (##"{"$ref":"#x","$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}"##, .unresolved, "#/$ref"),
            (##"{"anyOf":[{"$ref":"#"}]}"##, .endless, "#/anyOf/0"),
            (
                ##"{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"not":{"$ref":"#/$defs/a"}}}}"##, .endless,
                "#/$defs/a/not"
            ),
        ]
        for (schema, kind, pointer) in cases {
            let fault = try fault(schema)
            #expect(fault?.kind == kind && fault?.pointer == pointer, "\(schema)")
        }
    }
}
