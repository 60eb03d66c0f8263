import BatchEngine
import PhiText

extension EncodedPrompt {
    /// Returns the use of the model's reasoning in the result, and its plan, with the line's limit; nil if none is
    /// recognized.
    /// - Throws: `LineError` if reasoning is limited where there is none.
    func reasoning() throws(LineError) -> (use: RequestSettings.ReasoningUse, plan: ReasoningPlan)? {
        if let problem = settings.reasoningProblem(maker.text.reasonings) {
            throw LineError(.badField, problem)
        }
        guard let reasonings = maker.text.reasonings,
            let use = settings.reasoningUse(isUsual: reasonings.isUsual),
            let plan = reasonings.reasoning(
                after: content, tokens, settings, maxTokens: maxTokens, of: maker.limits)
        else { return nil }
        return (use, plan)
    }
}

extension ReasoningPlan {
    /// Returns the plan of reasoning before a constrained answer.
    /// - Parameters:
    ///   - least: the fewest tokens of the answer.
    ///   - maxTokens: of both together.
    /// - Throws: `LineError` if there is no space for both.
    func beforeAnswer(ofAtLeast least: Int, maxTokens: Int) throws(LineError) -> ReasoningPlan {
        var reasoning = self
        let room = maxTokens - leastTokens - least
        guard room >= 0 else {
            throw LineError(
                .maxTokensTooSmall,
                "The completion may have \(maxTokens) tokens (max_tokens, or what the context leaves), but the shortest "
                    + "reasoning and the shortest answer with its constraint have \(maxTokens - room)."
            )
        }
        let wanted = min(limit ?? maxTokens * 3 / 4, maxTokens - leastTokens - maxTokens / 8)
        // Without space for reasoning, its limit is one token: none at all would need other tokens.
        if limit != 0 { reasoning.limit = max(1, min(wanted, room)) }
        return reasoning
    }
}

extension RequestSettings {
    /// An error in the settings of reasoning, as a sentence; nil if there is none.
    /// - Parameter reasoning: the model's; nil if it has no tokenizer.
    func reasoningProblem(_ reasonings: ReasoningText?) -> String? {
        if reasoning != nil {
            return reasonings == nil ? "reasoning needs a tokenizer, and the model folder has none." : nil
        }
        let asksForReasonings = reasoningEffort.map { $0 != "none" } ?? false
        guard reasonings?.isUsual != true, maxReasoningTokens != nil || asksForReasonings else { return nil }
        return
            "\(maxReasoningTokens == nil ? "reasoning_effort" : "max_reasoning_tokens") limits reasoning, "
            + "but the model's files don't show that it reasons; with the job's reasoning: separate, text between "
            + "<think> and </think> is reasoning."
    }
}

extension GeneratedResult {
    /// Adds the reasoning before the answer, according to its use.
    mutating func add(_ completion: SamplingDecoding, as use: RequestSettings.ReasoningUse?) {
        guard let use else { return }
        reasoningTokens = completion.reasoningTokens
        reasoningIsCut = completion.reasoningIsCut
        if use != .keep {
            tokens = tokens.map { Array($0.dropFirst(completion.tokensBeforeAnswer)) }
            logprobs = logprobs.map { Array($0.dropFirst(completion.tokensBeforeAnswer)) }
        }
        switch use {
        case .drop: break
        case .keep: text = completion.reasoning + text
        case .separate: reasoning = completion.reasoningContent ?? ""
        }
    }
}
