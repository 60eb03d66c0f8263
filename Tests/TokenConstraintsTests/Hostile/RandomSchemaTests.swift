import JSON
import JSONSchema
import Testing

@testable import TokenConstraints

/// Whatever a schema says: answers are whole at every limit, and obey it unless something is left to validation.
struct RandomSchemaTests {
    @Test func answersOfRandomSchemasAreWholeAndValid() throws {
        let tokens = SmallVocabulary.tokens()
        var taken = 0
        for seed in 0..<300 {
            var maker = SchemaMaker(seed)
            let text = maker.document()
            // Some lead back to themselves, and some allow nothing.
            guard let schema = try? Schema(JSONValue(parsing: Array(text.utf8), limits: .ownLine)) else {
                continue
            }
            let grammar: AnswerGrammar
            do throws(ConstraintFault) {
                grammar = try AnswerGrammar(
                    schema, layout: seed % 7 == 0 ? .indented(2) : .compact, tokens: tokens)
            } catch {
                #expect(error.kind == .unsatisfiable, "\(text)")
                continue
            }
            taken += 1
            var walk = Walk(tokens: tokens, random: PlainRandom(seed + 1))
            for limit in [grammar.leastTokens, grammar.leastTokens + seed % 30, grammar.leastTokens + 100] {
                let answer = walk.answer(grammar, limit)
                let written = String(decoding: answer.text, as: UTF8.self)
                #expect(answer.fault == nil, "\(written) under \(text)")
                let value = try JSONValue(parsing: answer.text, limits: .line)
                guard grammar.validated.isEmpty else { continue }
                #expect(schema.accepts(value, assertsFormats: true), "\(written) under \(text)")
            }
        }
        #expect(taken > 100)
    }
}
