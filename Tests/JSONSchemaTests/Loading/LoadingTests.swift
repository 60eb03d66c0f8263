import JSON
import JSONSchema
import Testing

@Suite struct LoadingTests {
    @Test(arguments: [
        (#"{"type":"strnig"}"#, "#/type"), (#"{"type":[]}"#, "#/type"), (#"{"minLength":-1}"#, "#/minLength"),
        (#"{"maxItems":1.5}"#, "#/maxItems"), (#"{"properties":[]}"#, "#/properties"),
        (#"{"properties":{"a":1}}"#, "#/properties/a"), (#"{"required":true}"#, "#/required"),
        (#"{"allOf":[]}"#, "#/allOf"), (#"{"items":[{}]}"#, "#/items"),
        (#"{"multipleOf":0}"#, "#/multipleOf"),
        (#"{"exclusiveMinimum":true}"#, "#/exclusiveMinimum"), (#"{"pattern":"a("}"#, "#/pattern"),
        (#"{"patternProperties":{"[":true}}"#, "#/patternProperties/["),
        (#"{"uniqueItems":1}"#, "#/uniqueItems"),
        (#"{"enum":1}"#, "#/enum"), ("1", "#"), (#"{"$id":"a#b"}"#, "#/$id"), (#"{"$ref":1}"#, "#/$ref"),
        (#"{"dependentRequired":{"a":[1]}}"#, "#/dependentRequired/a"),
    ])
    func malformedKeywordsAreNamed(_ schema: String, _ pointer: String) throws {
        let fault = try fault(schema)
        #expect(fault?.kind == .malformed && fault?.pointer == pointer)
    }

    @Test func messagesSayWhatWouldBeRight() throws {
        let type = try fault(#"{"properties":{"a":{"type":"sting"}}}"#)?.description
        #expect(type?.hasPrefix("#/properties/a/type: must be of null, ") == true)
        #expect(type?.hasSuffix("Did you mean string?") == true)
        let pattern = try fault(#"{"pattern":"ab(?=c)"}"#)
        #expect(pattern?.kind == .unsupportedPattern)
        #expect(
            pattern?.description.hasSuffix("at the beginning of a pattern with ^, at character 3")
                == true)
    }

    @Test func whatIsNotKnownIsListed() throws {
        let schema = try Schema(
            json(
                ##"{"x":1,"properties":{"nullable":true,"a":{"nullable":true,"format":"colour"}},"items":{"if":{}},"default":{"y":1},"$defs":{"b":{"z":1}},"$schema":"http://json-schema.org/draft-06/schema#"}"##
            ))
        #expect(
            schema.unknownKeywords.map(\.pointer).sorted() == [
                "#/items/if", "#/properties/a/nullable", "#/x",
            ])
        #expect(
            schema.unknownFormats.map(\.pointer) == ["#/properties/a/format"]
                && schema.unknownFormats[0].name == "colour")
        let ignoring = try Schema(
            json(##"{"$ref":"#/definitions/a","title":"t","maximum":1,"definitions":{"a":{}}}"##),
            draft: .draft7)
        #expect(ignoring.ignoredKeywords.map(\.pointer) == ["#/maximum"])
    }

    @Test func nestingIsBounded() throws {
        var deep: JSONValue = true
        for _ in 0..<400 { deep = ["not": deep] }
        let error = #expect(throws: ConstraintFault.self) { try Schema(deep) }
        #expect(error?.kind == .tooLarge)
    }

    @Test func aRecursiveSchemaStopsInADeepInstance() throws {
        let schema = try Schema(json(##"{"items":{"$ref":"#"}}"##))
        var deep: JSONValue = []
        for _ in 0..<1000 { deep = [deep] }
        #expect(!schema.accepts(deep))
        #expect(schema.violations(of: deep).first?.text.text.contains("nest") == true)
    }

    @Test func validationHasABudget() throws {
        let one: JSONValue = ["type": "integer"]
        let schema = try Schema(["items": ["allOf": .array(Array(repeating: one, count: 200))]])
        let value = JSONValue.array((0..<100_000).map { .int($0) })
        #expect(!schema.accepts(value))
        #expect(schema.violations(of: value).map { $0.text.text.contains("steps") } == [true])
    }

    @Test func patternsShareABound() throws {
        var patterns = JSONObject()
        for i in 0..<6 { patterns["^a{90000\(i)}$"] = true }
        let error = #expect(throws: ConstraintFault.self) {
            try Schema(["patternProperties": .object(patterns)])
        }
        #expect(error?.kind == .tooLarge)
        #expect(error?.pointer?.hasPrefix("#/patternProperties/^a{90000") == true)
    }

    @Test func aHugeEnumIsLookedUp() throws {
        let schema = try Schema(["enum": .array((0..<100_000).map { .string("v\($0)") })])
        for i in 0..<1000 { #expect(schema.accepts(.string("v\(i * 97)"))) }
        #expect(!schema.accepts("w"))
    }
}
