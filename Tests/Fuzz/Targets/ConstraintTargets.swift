import BatchEngine
import JSON
import JSONSchema
import TokenConstraints

/// A schema, and bytes that choose among the tokens its masks allow. What is written must be whole at its limit, be
/// JSON, and obey the schema where nothing is left to validation.
@Sendable func readSchema(_ input: [UInt8], _ scratch: ScratchFolder) throws {
    let parts = parts(input, 2)
    let schema: Schema
    let grammar: AnswerGrammar
    do {
        schema = try Schema(JSONValue(parsing: parts[0], limits: .file))
        grammar = try AnswerGrammar(
            schema, layout: parts[1].first == 0x20 ? .indented(2) : .compact, tokens: byteTokens)
    } catch let error where error is JSONFault || error is ConstraintFault {
        try promise("\(error)".utf8.count < 100_000, "a message without end")
        return
    }
    // An answer of many thousand bytes takes its time.
    guard grammar.leastTokens < 500 else { return }
    for limit in [grammar.leastTokens, grammar.leastTokens + 40] {
        let text = try write(grammar, limit, choices: parts[1])
        let value: JSONValue
        do { value = try JSONValue(parsing: text, limits: .line) } catch {
            throw BrokenPromise(description: "an answer that is no JSON: \(error)")
        }
        let isChecked = grammar.validated.isEmpty
        try promise(
            !isChecked || schema.accepts(value, assertsFormats: true),
            "an answer that does not obey its schema")
    }
}

/// A regular expression, and bytes that choose among the tokens its masks allow.
@Sendable func readExpression(_ input: [UInt8], _ scratch: ScratchFolder) throws {
    let parts = parts(input, 2)
    guard let regex = String(validating: parts[0], as: UTF8.self) else { return }
    let grammar: AnswerGrammar
    do throws(ConstraintFault) { grammar = try AnswerGrammar(regex: regex, tokens: byteTokens) } catch {
        return
    }
    guard grammar.leastTokens < 500 else { return }
    for limit in [grammar.leastTokens, grammar.leastTokens + 40] {
        let text = try write(grammar, limit, choices: parts[1])
        try promise(String(validating: text, as: UTF8.self) != nil, "an answer that is no UTF-8")
    }
}

/// The texts of tokens: all bytes, and some longer ones. Token 0 ends the sequence.
private let byteTexts: [[UInt8]?] = {
    let words = ["\":", "\",\"", "{\"", "\"}", "ab", "abc", "\\u00", "é", "],\"", "true", "null", "12"]
    return [nil] + (UInt8.min...UInt8.max).map { [$0] } + words.map { Array($0.utf8) }
}()
private let byteTokens = TokenTrie(
    texts: byteTexts, endOfSequence: [0], encode: { $0.utf8.map { Int32($0) + 1 } })

/// A whole answer.
private func write(_ grammar: AnswerGrammar, _ limit: Int, choices: [UInt8]) throws -> [UInt8] {
    var constraint = grammar.constraint(maxTokens: limit)
    var text: [UInt8] = []
    for count in 0...limit {
        let mask = constraint.allowed()
        if count == limit || constraint.isComplete {
            try promise(mask[0], "an answer that is not whole at its limit")
            break
        }
        let allowed = (0..<Int32(mask.count)).filter { mask[$0] }
        try promise(!allowed.isEmpty, "an empty mask")
        let choice = choices.isEmpty ? 0 : Int(choices[count % choices.count])
        let token = allowed[choice % max(1, allowed.count)]
        if token == 0 { break }
        let isAccepted = constraint.accept(token)
        try promise(isAccepted, "a token that is allowed, but not accepted")
        text += byteTexts[Int(token)] ?? []
    }
    return text
}
