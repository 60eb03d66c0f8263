import BatchEngine
import PhiText
import TokenConstraints

/// Constraints for a model.
extension AnswerGrammars {
    package convenience init(text: any TextCoding, limits: ModelLimits) {
        self.init(calls: text.tools.map { (text: $0.opening, tokens: $0.openingTokens) }) {
            () throws(ConstraintFault) in
            guard let texts = text.tokenTexts else {
                throw ConstraintFault(
                    .unusable, "The model has no tokenizer, so answers can't be constrained")
            }
            return TokenTrie(
                texts, count: limits.vocabularySize, endOfSequence: limits.endOfSequence.sorted())
        }
    }

    package func compilation(_ form: AnswerFormat, _ layout: AnswerGrammar.Layout) -> AnswerCompilation {
        compilation(of: form.digest, layout, size: form.text.utf8.count) {
            [mark] tokens throws(ConstraintFault) in
            let rule = try form.checked()
            guard let tools = form.tools else { return try CompiledAnswer(rule, layout, tokens) }
            guard let mark else {
                throw ConstraintFault(.unusable, "The model has no tokenizer, so tools can't be called")
            }
            return try CompiledAnswer(
                rule, layout, tokens, calls: (tools.choice, mark, tools.answer?.checked()))
        }
    }
}

extension AnswerCompilation {
    /// Returns the result for a line.
    /// - Parameter maxTokens: of the answer, by all limits.
    /// - Throws: `LineError` if no answer meets it.
    package func value(maxTokens: Int) throws(LineError) -> CompiledAnswer {
        let compiled: CompiledAnswer
        do throws(ConstraintFault) { compiled = try value() } catch {
            throw LineError(.badSchema, "The constraint of the answer can't be used: \(error.sentence)")
        }
        let least = compiled.leastTokens
        guard least <= maxTokens else {
            throw LineError(
                .maxTokensTooSmall,
                "The answer may have \(maxTokens) tokens (max_tokens, or what the context leaves), but its constraint needs at least \(least)."
            )
        }
        return compiled
    }
}

extension TokenTrie {
    /// - Parameter count: number of the model's logits, which may exceed the tokens.
    package convenience init(_ texts: TokenTexts, count: Int, endOfSequence: [Int32]) {
        var bytes = Array(texts.bytes.prefix(count))
        bytes += Array(repeating: nil, count: count - bytes.count)
        // A token that ends an answer is no part of its text.
        for id in endOfSequence where bytes.indices.contains(Int(id)) { bytes[Int(id)] = nil }
        self.init(
            texts: bytes, endOfSequence: endOfSequence.filter { $0 >= 0 && $0 < count },
            dropsFirstSpace: texts.dropsFirstSpace, encode: texts.encode)
    }
}
