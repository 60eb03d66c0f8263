import BatchEngine

/// From what a line asks of its answer to what the loop is told.
extension LinePreparer {
    /// What an answer must be like.
    struct Answer: Sendable {
        let rules: AnswerRules
        /// The form's digest.
        let form: [UInt8]
        /// Before the first token.
        let constraint: any Constraint
    }

    /// - Parameter maxTokens: of this line, all limits considered.
    /// - Throws: `LineError` if there is no such answer.
    func answer(
        of record: PromptRecord, maxTokens: Int, _ grammars: AnswerGrammars
    ) throws(LineError) -> Answer? {
        guard let form = jobForm ?? record.form, form.isConstraint else { return nil }
        let stops = !record.stop.isEmpty || !job.stop.isEmpty
        if let other = AnswerConflict(stops: stops, ignoresEnd: job.ignoreEndOfSequence) {
            throw LineError(
                .badField,
                "`\(other.name)` can't be combined with what the answer must be like: \(other.reason).")
        }
        let compiled: AnswerGrammars.Compiled
        do throws(AnswerFault) {
            compiled = try grammars.compiled(form, job.answerLayout)
        } catch {
            throw LineError(.badSchema, "What the answer must be like can't be used: \(error.message)")
        }
        let least = compiled.grammar.leastTokens
        guard least <= maxTokens else {
            throw LineError(
                .maxTokensTooSmall,
                "The answer may have \(maxTokens) tokens (max_tokens, or what the context leaves), but one of the form that is asked for has at least \(least)."
            )
        }
        return Answer(
            rules: compiled.rules, form: form.digest,
            constraint: compiled.grammar.constraint(maxTokens: maxTokens))
    }
}
