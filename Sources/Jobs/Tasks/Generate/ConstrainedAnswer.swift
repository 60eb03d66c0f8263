import BatchEngine
import TokenConstraints

/// Compiles a line's constraint for the loop.
extension GenerateTask {
    /// The constraint of an answer. Compiling it for tokens may take a while.
    package struct Answer: Sendable {
        let form: AnswerFormat
        /// The most tokens for this line, by all limits.
        let maxTokens: Int
        let compilation: AnswerCompilation
        let grammars: AnswerGrammars

        /// Begins to compile the constraint of a request.
        /// - Parameters:
        ///   - kind, owner: the request's, without the constraint.
        ///   - gap: tokens between reasoning and the answer.
        ///   - waiter: notified when it is compiled.
        func waiting(
            _ request: OwnedRequest, _ kind: Sampling, _ owner: GenerationPart, _ reasoning: Reasoning? = nil,
            gap: [Int32] = [], for waiter: AnswerCompilation.Waiter
        ) -> WaitingRequest {
            grammars.begin(compilation, for: waiter)
            return WaitingRequest(request: request, compilation: compilation) { () throws(LineError) in
                let compiled = try compiled()
                var (request, kind, owner) = (request.request, kind, owner)
                owner.rule = compiled.rule
                if let reasoning {
                    kind.reasoning = try reasoning.formed(
                        gap, maxTokens: maxTokens, least: compiled.leastTokens)
                }
                kind.form = { compiled.constraint(maxTokens: $0) }
                request.kind = kind
                return OwnedRequest(request: request, owner: owner)
            }
        }

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

    /// - Parameter maxTokens: the most for this line, by all limits.
    /// - Throws: `LineError` if another setting of the line conflicts with it.
    func answer(
        of record: PromptRecord, _ settings: RequestSettings, maxTokens: Int, _ grammars: AnswerGrammars
    ) throws(LineError) -> Answer? {
        guard var form = jobFormat ?? record.form, form.isConstraint else {
            try settings.refuseToolChoice()
            return nil
        }
        try settings.check(form)
        if let tools = form.tools {
            do throws(SettingProblem) {
                form = try tools.choosing(settings.toolChoice, atMost: settings.maxToolCalls)
            } catch {
                throw LineError(.badField, "`tool_choice` \(error.message)")
            }
        } else {
            try settings.refuseToolChoice()
        }
        return Answer(
            form: form, maxTokens: maxTokens, compilation: grammars.compilation(form, job.answerLayout),
            grammars: grammars)
    }
}

extension RequestSettings {
    /// - Throws: `LineError` if `tool_choice` asks for tools, and there are none.
    fileprivate func refuseToolChoice() throws(LineError) {
        guard let toolChoice, toolChoice != "none", toolChoice != "auto" else { return }
        throw LineError(.badField, "`tool_choice` is \"\(toolChoice.prefix(64))\", but there are no `tools`.")
    }

    /// - Throws: `LineError` if a setting conflicts with a constraint.
    func check(_ form: AnswerFormat) throws(LineError) {
        if let other = formConflict(mayStop: form.isOfCalls) {
            throw LineError(
                .badField,
                "`\(other.name)` can't be combined with a constraint of the answer: \(other.reason).")
        }
    }
}
