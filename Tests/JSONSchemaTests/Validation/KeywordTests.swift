import JSONSchema
import Testing

@Suite struct KeywordTests {
    @Test(arguments: [
        SchemaCase(schema: "true", valid: ["1", "{}"]),
        SchemaCase(schema: "false", invalid: ["1", "{}"]),
        SchemaCase(
            schema: #"{"type":"integer"}"#, valid: ["1", "1.0", "1e2"], invalid: ["1.5", "\"1\"", "null"]),
        SchemaCase(schema: #"{"type":"integer"}"#, valid: ["1", "1e25"], invalid: ["1.0"], draft: .draft4),
        SchemaCase(
            schema: #"{"type":["string","null"]}"#, valid: ["\"a\"", "null"], invalid: ["false", "[]"]),
        SchemaCase(schema: #"{"type":"number"}"#, valid: ["1", "1.5"], invalid: ["true"]),
        SchemaCase(
            schema: #"{"const":{"a":[1,2.0],"b":"é"}}"#, valid: [#"{"b":"é","a":[1.0,2]}"#],
            invalid: [#"{"b":"e\u0301","a":[1,2]}"#, #"{"a":[2,1],"b":"é"}"#]),
        SchemaCase(
            schema: #"{"enum":[0,"a",[false]]}"#, valid: ["0.0", "-0", "[false]"], invalid: ["false", "[0]"]),
        SchemaCase(
            schema: #"{"minimum":-2,"maximum":3}"#, valid: ["-2", "3.0", "\"9\""], invalid: ["-2.1", "4"]),
        // By all their digits.
        SchemaCase(
            schema: #"{"maximum":9007199254740993}"#, valid: ["9007199254740993"],
            invalid: ["9007199254740994", "9007199254740993.0000000001"]),
        SchemaCase(
            schema: #"{"exclusiveMinimum":0,"exclusiveMaximum":1}"#,
            valid: ["0.5", "0.99999999999999999999999"], invalid: ["0", "1.0"]),
        SchemaCase(
            schema: #"{"minimum":0,"exclusiveMinimum":true}"#, valid: ["0.1"], invalid: ["0"], draft: .draft4),
        SchemaCase(
            schema: #"{"multipleOf":0.01}"#, valid: ["4.35", "0.07", "1e20", "0"], invalid: ["0.075"]),
        SchemaCase(schema: #"{"multipleOf":0.0001}"#, valid: ["0.0075", "1e300"], invalid: ["0.00751"]),
        SchemaCase(
            schema: #"{"multipleOf":3}"#, valid: ["9223372036854775806", "3e200"],
            invalid: ["9223372036854775807", "1e200"]),
        SchemaCase(
            schema: #"{"minLength":2,"maxLength":2.0}"#, valid: ["\"💩💩\"", "\"ab\""],
            invalid: ["\"a\"", "\"abc\""]),
        SchemaCase(schema: #"{"pattern":"^a+$"}"#, valid: ["\"aa\"", "1"], invalid: ["\"ab\"", "\"\""]),
        SchemaCase(
            schema: #"{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}"#,
            valid: ["[]", "[\"a\",1]"],
            invalid: ["[1]", "[\"a\",\"b\"]"]),
        SchemaCase(
            schema: #"{"items":[{"type":"string"}],"additionalItems":false}"#, valid: ["[]", "[\"a\"]"],
            invalid: ["[\"a\",1]"], draft: .draft7),
        SchemaCase(schema: #"{"contains":{"const":1}}"#, valid: ["[0,1]"], invalid: ["[]", "[0]"]),
        SchemaCase(
            schema: #"{"contains":{"const":1},"minContains":2,"maxContains":3}"#,
            valid: ["[1,1]", "[1,1,1,0]"],
            invalid: ["[1]", "[1,1,1,1]"]),
        SchemaCase(schema: #"{"contains":false,"minContains":0}"#, valid: ["[]", "[1]"]),
        SchemaCase(
            schema: #"{"minItems":1,"maxItems":2}"#, valid: ["[1]", "[1,2]"], invalid: ["[]", "[1,2,3]"]),
        SchemaCase(
            schema: #"{"uniqueItems":true}"#,
            valid: ["[1,true,\"1\",[1]]", "[10000000000000000001,10000000000000000002]"],
            invalid: ["[1,1.0]", #"[{"a":1,"b":2},{"b":2,"a":1}]"#]),
        SchemaCase(
            schema:
                #"{"properties":{"a":{"type":"string"}},"patternProperties":{"^x":{"type":"number"}},"additionalProperties":false}"#,
            valid: [#"{"a":"b","xy":1}"#], invalid: [#"{"a":1}"#, #"{"xy":"1"}"#, #"{"b":1}"#]),
        SchemaCase(
            schema: #"{"required":["a","b"]}"#, valid: [#"{"a":1,"b":2}"#, "[]"], invalid: [#"{"a":1}"#]),
        SchemaCase(
            schema: #"{"minProperties":1,"maxProperties":1}"#, valid: [#"{"a":1}"#],
            invalid: ["{}", #"{"a":1,"b":2}"#]),
        SchemaCase(
            schema: #"{"propertyNames":{"maxLength":1}}"#, valid: [#"{"a":1}"#], invalid: [#"{"ab":1}"#]),
        SchemaCase(
            schema: #"{"dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"required":["d"]}}}"#,
            valid: [#"{"a":1,"b":2}"#, #"{"c":1,"d":1}"#], invalid: [#"{"a":1}"#, #"{"c":1}"#]),
        SchemaCase(
            schema: #"{"dependencies":{"a":["b"],"c":{"required":["d"]}}}"#, valid: [#"{"a":1,"b":2}"#],
            invalid: [#"{"a":1}"#, #"{"c":1}"#], draft: .draft7),
        SchemaCase(schema: #"{"allOf":[{"minimum":1},{"maximum":2}]}"#, valid: ["1"], invalid: ["0", "3"]),
        SchemaCase(
            schema: #"{"anyOf":[{"type":"string"},{"minimum":2}]}"#, valid: ["\"a\"", "2"], invalid: ["1"]),
        SchemaCase(
            schema: #"{"oneOf":[{"multipleOf":2},{"multipleOf":3}]}"#, valid: ["2", "3"], invalid: ["1", "6"]),
        SchemaCase(schema: #"{"not":{"type":"string"}}"#, valid: ["1"], invalid: ["\"a\""]),
        SchemaCase(
            schema: #"{"if":{"minimum":10},"then":{"multipleOf":10},"else":{"maximum":5}}"#,
            valid: ["20", "5"],
            invalid: ["25", "6"]),
        SchemaCase(schema: #"{"contentEncoding":"base64","format":"date"}"#, valid: ["\"%\""]),
    ])
    func keyword(_ one: SchemaCase) throws { try one.check() }

    @Test(arguments: [
        SchemaCase(
            schema:
                #"{"properties":{"a":true},"anyOf":[{"properties":{"b":{"const":1}},"required":["b"]},{"properties":{"c":true},"required":["c"]}],"unevaluatedProperties":false}"#,
            valid: [#"{"a":1,"b":1}"#, #"{"c":1}"#, #"{"b":1,"c":1}"#],
            invalid: [#"{"a":1,"b":2,"c":1}"#, #"{"b":1,"d":1}"#]),
        SchemaCase(
            schema:
                #"{"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"properties":{"b":true}},"unevaluatedProperties":false}"#,
            valid: [#"{"a":1,"b":2}"#, "{}"], invalid: [#"{"a":2}"#, #"{"b":1}"#]),
        SchemaCase(
            schema: #"{"not":{"properties":{"a":true}},"unevaluatedProperties":false}"#,
            invalid: ["{}", #"{"a":1}"#]),
        SchemaCase(
            schema:
                #"{"allOf":[{"prefixItems":[true]}],"contains":{"type":"string"},"unevaluatedItems":{"type":"null"}}"#,
            valid: [#"[1,"a",null]"#], invalid: [#"[1,"a",2]"#]),
        SchemaCase(
            schema: #"{"contains":{"type":"string"},"unevaluatedItems":false}"#, invalid: [#"["a"]"#],
            draft: .draft2019),
        SchemaCase(
            schema: #"{"allOf":[{"unevaluatedProperties":true}],"unevaluatedProperties":false}"#,
            valid: [#"{"a":1}"#]),
    ])
    func unevaluated(_ one: SchemaCase) throws { try one.check() }

    @Test func violationsSayWhatIsWrongWhereAndWhatIsRight() throws {
        let schema = try Schema(
            json(
                #"{"properties":{"a/b":{"items":{"maximum":3}},"c":{"anyOf":[{"type":"null"},{"properties":{"d":{"type":"string"}}}]}},"required":["e"]}"#
            ))
        let violations = schema.violations(of: try json(#"{"a/b":[1,4],"c":{"d":false}}"#))
        #expect(violations.map(\.instance) == ["", "/a~1b/1", "/c"])
        #expect(
            violations.map(\.schema) == [
                "#/required", "#/properties/a~1b/items/maximum", "#/properties/c/anyOf",
            ])
        #expect(
            violations.map(\.text.text) == [
                "the value must have the property \"e\"", "/a~1b/1 must be at most 3, but is 4",
                "/c must fit one of 2 alternatives, but fits none; for the nearest, /c/d must be a string, but is false",
            ])
        let refused = try Schema(json(#"{"additionalProperties":false}"#)).violations(of: ["x\u{1B}": 1])
        #expect(refused.map(\.text.text) == [#"the value must not have the property "x\u{1B}""#])
    }
}
