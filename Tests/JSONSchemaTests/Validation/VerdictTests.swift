import JSONSchema
import Testing

/// A part of an instance is held against each schema once, however many ways lead there.
@Suite struct VerdictTests {
    /// Definitions of which each is made of two references to the next.
    private static func doubling(_ count: Int, _ keyword: String, _ last: String) -> String {
        let all = (0..<count).map { number in
            let next = ##"{"$ref":"#/$defs/a\##(number + 1)"}"##
            return #""a\#(number)":{"\#(keyword)":[\#(next),\#(next)]}"#
        }
        return #"{\#((all + [#""a\#(count)":\#(last)"#]).joined(separator: ","))}"#
    }

    @Test(arguments: ["anyOf", "oneOf", "allOf"]) func waysThatDoubleAreGoneOnce(keyword: String) throws {
        let defs = Self.doubling(40, keyword, #"{"type":"string"}"#)
        let either = try Schema(
            json(##"{"anyOf":[{"$ref":"#/$defs/a0"},{"type":"integer"}],"$defs":\##(defs)}"##))
        #expect(either.accepts(5) && either.violations(of: 5).isEmpty)
        #expect(!either.accepts(nil))
        let violations = either.violations(of: nil)
        #expect(violations.count == 1 && violations.first?.schema == "#/anyOf", "\(violations)")
    }

    @Test func itemsAndMembersAreApart() throws {
        try SchemaCase(
            schema: ##"""
                {"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n"}},
                 "propertyNames":{"$ref":"#/$defs/s"},"additionalProperties":{"$ref":"#/$defs/s"},
                 "$defs":{"n":{"type":"array","items":{"$ref":"#/$defs/i"}},
                          "i":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/n"}]},
                          "s":{"type":"string","maxLength":2}}}
                """##,
            valid: [
                #"{"a":[1,[2]],"b":[3]}"#, #"{"xy":"ab"}"#, #"{"é":"a"}"#, "{\"e\u{301}\":\"a\",\"é\":\"b\"}",
            ],
            invalid: [
                #"{"a":[1],"b":["x"]}"#, #"{"a":["x"],"b":[1]}"#, #"{"a":[[1],[["x"]]]}"#, #"{"xyz":"ab"}"#,
                #"{"xy":"abc"}"#, "{\"e\u{301}\":\"a\",\"é\":\"bcd\"}", "{\"e\u{301}\":\"abc\",\"é\":\"b\"}",
            ]
        ).check()
    }

    /// What a schema has looked at counts also where its verdict was known.
    @Test func whatWasLookedAtIsRemembered() throws {
        try SchemaCase(
            schema: ##"""
                {"allOf":[{"$ref":"#/$defs/a"},{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]}],
                 "unevaluatedProperties":false,
                 "$defs":{"a":{"properties":{"a":true}},"b":{"required":["c"],"properties":{"b":true}}}}
                """##,
            valid: ["{}", #"{"a":1}"#],
            invalid: [#"{"b":1}"#, #"{"a":1,"c":1}"#]
        ).check()
        try SchemaCase(
            schema: ##"""
                {"not":{"$ref":"#/$defs/b"},"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}],
                 "unevaluatedProperties":false,
                 "$defs":{"a":{"properties":{"a":true}},"b":{"required":["b"],"properties":{"b":true}}}}
                """##,
            valid: ["{}", #"{"a":1}"#],
            invalid: [#"{"b":1}"#, #"{"a":1,"b":1}"#]
        ).check()
    }

    /// The same violation is told as often as it is met.
    @Test func violationsAreToldAsBefore() throws {
        let schema = try Schema(
            json(
                ##"""
                {"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],
                 "$defs":{"a":{"type":"string"}}}
                """##))
        #expect(schema.violations(of: 1).map(\.schema) == Array(repeating: "#/$defs/a/type", count: 3))
    }
}
