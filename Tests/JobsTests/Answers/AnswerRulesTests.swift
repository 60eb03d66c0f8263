import JSON
import Testing
import TokenConstraints

@testable import BatchPipeline
@testable import Jobs

/// What makes a form usable, and finished answers valid.
@Suite struct AnswerRulesTests {
    private func rules(_ schema: JSONValue) throws -> AnswerRule {
        try AnswerFormat.schema(schema).checked()
    }

    private func fault(_ form: AnswerFormat) -> String {
        do throws(ConstraintFault) {
            _ = try form.checked()
            return "no fault"
        } catch {
            return error.sentence
        }
    }

    @Test func answersAreJudged() throws {
        let rules = try rules([
            "type": "array", "items": ["type": "string", "format": "date"], "uniqueItems": true,
        ])
        #expect(rules.problem(with: #"["2026-11-23"]"#) == nil)
        #expect(rules.problem(with: #"["2026-11-31"]"#)?.contains("#/items/format") == true)
        #expect(rules.problem(with: #"["2026-11-23","2026-11-23"]"#)?.contains("#/uniqueItems") == true)
        #expect(rules.problem(with: #"["2026-11-23""#)?.hasPrefix("it is not JSON") == true)
        #expect(try self.rules([:]).problem(with: #"{"a":1,"a":2}"#)?.contains("twice") == true)
        let object = try AnswerFormat.object.checked()
        #expect(object.problem(with: "{}") == nil && object.problem(with: "[]") != nil)
    }

    @Test func expressionsMatchAsAWhole() throws {
        let rules = try AnswerFormat.regex("a|bc").checked()
        #expect(rules.problem(with: "a") == nil && rules.problem(with: "bc") == nil)
        for wrong in ["ac", "xa", "a\n", "", "abc"] { #expect(rules.problem(with: wrong) != nil, "\(wrong)") }
        #expect(fault(.regex("a)(?:b")).hasPrefix("The regular expression has"))
        #expect(fault(.regex("a(?=b)")).hasPrefix("The regular expression has"))
    }

    @Test func grammarsAreRead() throws {
        let rule = try AnswerFormat.grammar("root ::= \"é\" root | \"a\"").checked()
        #expect(rule.problem(with: "éa") == nil)
        #expect(rule.problem(with: "éb") == "the grammar doesn't allow its character 2")
        #expect(rule.problem(with: "é") == "by the grammar, more would have to follow")
    }

    @Test(
        arguments: [
            (["type": "strin"], "#/type"), (["$ref": "https://example.com/s"], "#/$ref"),
            (
                ["properties": ["a": ["nullable": 1]]],
                "#/properties/a/nullable: nullable must be true or false"
            ),
            (["requried": ["a"]], "#/requried: requried is no keyword of 2020-12. Did you mean required?"),
            (["frobnicate": 1], "x-frobnicate."),
        ] as [(JSONValue, String)])
    func whatCannotBeUsedIsRefused(schema: JSONValue, part: String) {
        #expect(fault(.schema(schema)).contains(part), "\(fault(.schema(schema)))")
    }

    @Test func wordsThatSayNothingAreTaken() throws {
        _ = try rules([
            "x-order": 1, "_comment": "c", "example": 3, "markdownDescription": "m", "@context": "u",
            "properties": ["a": ["externalDocs": [:], "title": "t"]],
        ])
        let warnings = try rules(["properties": ["a": ["format": "colour"]]]).warnings()
        #expect(warnings == ["#/properties/a/format: the format colour is not known, and not checked."])
    }

    @Test func otherDialectsAreUnderstood() throws {
        let nullable = try rules([
            "properties": [
                "a": ["type": "string", "enum": ["x"], "nullable": true],
                "b": ["type": "string", "nullable": false],
            ], "propertyOrdering": ["b", "a"],
        ])
        #expect(nullable.problem(with: #"{"a":null}"#) == nil && nullable.problem(with: #"{"a":"x"}"#) == nil)
        #expect(nullable.problem(with: #"{"b":null}"#) != nil && nullable.problem(with: #"{"a":"y"}"#) != nil)
        #expect(nullable.warnings() == ["propertyOrdering: ignored, as it has no effect on values."])
    }

    /// Whoever reads of a place knows the parameters, and no schema that is made of them.
    @Test func placesInToolsAreTheirOwn() throws {
        func tools(_ parameters: JSONValue...) throws -> AnswerFormat {
            try #require(
                ToolsRule(
                    .array(
                        parameters.enumerated().map { number, schema in
                            [
                                "type": "function",
                                "function": ["name": .string("f\(number)"), "parameters": schema],
                            ]
                        }))
            ).form
        }
        let place = "the parameters of f1: #/properties/a"
        #expect(fault(try tools([:], ["properties": ["a": ["type": "strin"]]])).hasPrefix("\(place)/type: "))
        #expect(
            fault(try tools([:], ["properties": ["a": ["requried": []]]])).hasPrefix("\(place)/requried: "))
        let formats = try tools([:], ["properties": ["a": ["format": "colour"]]])
        #expect(try formats.checked().warnings().first?.hasPrefix("\(place)/format: ") == true)
        let unique: JSONValue = ["properties": ["a": ["uniqueItems": true]]]
        for (rule, name) in [(try tools([:], unique), "f1"), (try tools(unique), "f0")] {
            let checked = try rule.checked()
            let grammar = try checked.grammar(.init(others: .ifAsked), .ofBytes)
            #expect(
                grammar.validated.map { checked.place($0.pointer) }
                    == ["the parameters of \(name): #/properties/a/uniqueItems"])
            #expect(checked.problem(with: #"[{"name":"\#(name)","arguments":{"a":[1,1]}}]"#) != nil)
        }
    }
}
