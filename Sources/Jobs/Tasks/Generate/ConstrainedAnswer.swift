import BatchEngine
import TokenConstraints

extension GenerateTask {
    /// The constraint of a line's answer. Compiling it for tokens may take a while.
    package struct Answer: Sendable {
        let form: AnswerFormat
        /// The most tokens for this line, by all limits.
        let maxTokens: Int
        let compilation: AnswerCompilation
        /// The reasoning before it, and the tokens between them.
        var reasoning: Reasoning?
        var gap: [Int32] = []

        /// The check of a finished answer.
        var rule: CheckedRule? { try? compilation.value().rule }

        /// Waits until it is compiled.
        /// - Throws: `LineError` if no answer meets it.
        package func compiled() throws(LineError) -> CompiledAnswer {
            let compiled: CompiledAnswer
            do throws(SettingProblem) { compiled = try compilation.value() } catch {
                throw LineError(.badSchema, "The constraint of the answer can't be used: \(error.message)")
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

    /// - Throws: `LineError` if another setting of the line conflicts with it.
    func answer(
        of record: PromptRecord, _ question: EncodedPrompt, after reasoning: Reasoning?
    ) throws(LineError) -> Answer? {
        let settings = question.settings
        let asked = (jobFormat ?? record.form).flatMap { $0.isConstraint ? $0 : nil }
        if asked?.tools == nil, let choice = settings.toolChoice, choice != "none", choice != "auto" {
            throw LineError(.badField, "`tool_choice` is \"\(choice.prefix(64))\", but there are no `tools`.")
        }
        guard var form = asked else { return nil }
        try settings.check(form)
        if let tools = form.tools {
            do throws(SettingProblem) {
                form = try tools.choosing(settings.toolChoice, atMost: settings.maxToolCalls)
            } catch {
                throw LineError(.badField, "`tool_choice` \(error.message)")
            }
        }
        let maker = question.encoder.maker
        return Answer(
            form: form, maxTokens: question.maxTokens,
            compilation: maker.grammars.compilation(form, job.answerLayout), reasoning: reasoning,
            gap: maker.text.reasonings?.gap ?? [])
    }
}

extension OwnedRequest {
    /// Takes its constraint, once that is compiled.
    /// - Throws: `LineError` if no answer meets it.
    mutating func takeConstraint() throws(LineError) {
        guard let answer, var kind = request.kind as? Sampling else { return }
        let compiled = try answer.compiled()
        if let reasoning = answer.reasoning {
            kind.reasoning = try reasoning.formed(
                answer.gap, maxTokens: answer.maxTokens, least: compiled.leastTokens)
        }
        kind.form = { compiled.constraint(maxTokens: $0) }
        (request.kind, self.answer) = (kind, nil)
    }
}

extension RequestSettings {
    /// - Throws: `LineError` if a setting conflicts with a constraint.
    func check(_ form: AnswerFormat) throws(LineError) {
        if let other = formConflict(mayStop: form.isOfCalls) {
            throw LineError(
                .badField,
                "`\(other.name)` can't be combined with a constraint of the answer: \(other.reason).")
        }
    }
}
