import Foundation
import JSON
import JSONSchema
import Testing

@testable import TokenConstraints

/// Schemas and expressions that would take time or memory without bounds.
struct HostileSchemaTests {
    private let tokens = SmallVocabulary.tokens()

    static func list(_ count: Int, _ item: (Int) -> String) -> String {
        (0..<count).map(item).joined(separator: ",")
    }

    /// Definitions of which each is made of the one after it.
    private static func chain(_ count: Int, _ last: String, _ one: (String) -> String) -> String {
        let all = list(count) { #""d\#($0)":"# + one(##"{"$ref":"#/$defs/d\##($0 + 1)"}"##) }
        return ##"{"$ref":"#/$defs/d0","$defs":{\##(all),"d\##(count)":\##(last)}}"##
    }

    private func grammar(_ text: String) throws -> AnswerGrammar {
        try AnswerGrammar(Schema(JSONValue(parsing: Array(text.utf8), limits: .ownLine)), tokens: tokens)
    }

    private static let tooLarge: [(schema: String, pointer: String)] = [
        (#"{"type":"array","minItems":1000000}"#, "#"),
        (#"{"type":"array","minItems":1000000000000}"#, "#"),
        (#"{"type":"string","minLength":1000000000000}"#, "#"),
        (#"{"type":"object","minProperties":1000000000000}"#, "#"),
        (
            #"{"required":["a"],"type":"object","properties":{"a":{"type":"array","minItems":1000000}}}"#,
            "#/properties/a"
        ),
        (#"{"type":"array","minItems":1000,"items":{"type":"array","minItems":1000}}"#, "#"),
        (chain(80, #"{"type":"null"}"#) { #"{"type":"array","minItems":2,"items":\#($0)}"# }, "#/$defs/d66"),
        (
            chain(3_000, #"{"type":"null"}"#) {
                #"{"type":"object","required":["a"],"properties":{"a":\#($0)}}"#
            }, "#/$defs/d2951"
        ),
        (#"{"enum":[\#(list(260_000) { "\($0)" })]}"#, "#"),
    ]

    @Test(arguments: tooLarge.indices) func isRefused(_ index: Int) throws {
        let (schema, pointer) = Self.tooLarge[index]
        let fault = #expect(throws: ConstraintFault.self) { try grammar(schema) }
        #expect(fault?.kind == .tooLarge)
        #expect(fault?.pointer == pointer)
    }

    @Test func depthOfADocumentIsLimited() throws {
        let deep = String(repeating: #"{"items":"#, count: 300) + "{}" + String(repeating: "}", count: 300)
        #expect(throws: JSONFault.self) { try grammar(deep) }
    }

    private static let taken = [
        // What asks for too much is left out where there is another way.
        #"{"anyOf":[{"type":"array","minItems":1000000000000},{"type":"null"}]}"#,
        #"{"type":"object","properties":{"a":{"type":"string","minLength":1000000}},"additionalProperties":false}"#,
        #"{"type":"array","maxItems":1000000000000}"#, #"{"type":"string","maxLength":1000000000000}"#,
        #"{"type":"array","minItems":500,"items":{"type":"array","minItems":3,"items":{"type":"null"}}}"#,
        // Members that may hold the object itself, beside such that may not.
        ##"{"type":"object","properties":{"a":{"$ref":"#"}},"minProperties":1}"##,
        ##"{"type":"object","patternProperties":{"^a":{"$ref":"#"},"^b":{"type":"null"}},"minProperties":3,"additionalProperties":false}"##,
        // Arrays in arrays.
        ##"{"type":"array","items":{"$ref":"#"}}"##,
        ##"{"$ref":"#/$defs/x","$defs":{"x":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/x"},"minItems":1,"maxItems":1},{"type":"null"}]}}}"##,
        // Many branches, properties and patterns.
        #"{"anyOf":[\#(list(3_000) { #"{"const":"v\#($0)"}"# })]}"#,
        #"{"oneOf":[\#(list(3_000) { #"{"const":"v\#($0)"}"# })]}"#,
        #"{"type":"object","properties":{\#(list(3_000) { #""p\#($0)":{"type":"integer"}"# })},"maxProperties":20}"#,
        #"{"type":"object","patternProperties":{\#(list(40) { #""a\#($0).*b":{"minimum":\#($0)}"# })}}"#,
        #"{"type":"string","allOf":[\#(list(300) { #"{"pattern":"a\#($0)"}"# })]}"#,
        // Expressions whose automata are large.
        #"{"type":"string","pattern":"(a|aa)*$"}"#, #"{"type":"string","pattern":"(.*a){30}"}"#,
        #"{"type":"string","pattern":"^.*a.{20}$"}"#,
    ]

    @Test(arguments: taken.indices) func isTaken(_ index: Int) throws {
        let grammar = try grammar(Self.taken[index])
        var walk = Walk(tokens: tokens, random: PlainRandom(index))
        for more in [0, 3, 60] {
            let answer = walk.answer(grammar, grammar.leastTokens + more)
            #expect(answer.fault == nil)
            #expect(throws: Never.self) { try JSONValue(parsing: answer.text, limits: .line) }
        }
    }

    @Test func answersThatGoDeepAreClosed() throws {
        let grammar = try grammar(##"{"type":"array","items":{"$ref":"#"}}"##)
        let open = Int32(1 + UInt8(ascii: "["))
        var constraint = grammar.constraint(maxTokens: 100_000)
        var depth = 0
        while constraint.allowed()[open] {
            let isAccepted = constraint.accept(open)
            try #require(isAccepted)
            depth += 1
        }
        #expect(depth > 50 && depth < JSONLimits.line.depth)
    }

    @Test func manyFreeNamesTakeLittleMemory() throws {
        let grammar = try grammar(#"{"type":"object","additionalProperties":{"type":"null"}}"#)
        let text = "{" + Self.list(600) { #""name\#($0)":null"# } + "}"
        #expect(grammar.generation(of: Array(text.utf8)).isPossible)
        let again = #"{"name1":null,"# + text.dropFirst()
        #expect(!grammar.generation(of: Array(again.utf8)).isPossible)
    }

    @Test(arguments: ["(a{1,1000}){1,1000}", "(((a{0,50}){0,50}){0,50}){0,50}", "a{99999999999}", "(a"])
    func expressionsAreRefused(_ regex: String) throws {
        #expect(throws: ConstraintFault.self) { try AnswerGrammar(regex: regex, tokens: tokens) }
    }

    @Test(arguments: ["(a|aa)*", "(.*a){30}", "(x+x+)+y", "[a-z]{1,3000}", "(|){1000}a"])
    func expressionsAreTaken(_ regex: String) throws {
        let grammar = try AnswerGrammar(regex: regex, tokens: tokens)
        var walk = Walk(tokens: tokens, random: PlainRandom(1))
        for more in [0, 3, 60] { #expect(walk.answer(grammar, grammar.leastTokens + more).fault == nil) }
    }
}
