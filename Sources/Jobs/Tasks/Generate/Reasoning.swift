import BatchEngine
import JSON
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

extension GenerationResult {
    /// Makes a completion, or the choice of one of some answers with the probabilities of all, in the order given.
    ///
    ///     "text"[,"reasoning"][,"tool_calls":[…]][,"reasoning_cut":true],"finish_reason"[,"probabilities":{"<choice>":<0 to 1>,…}],"usage":{…},"seed"[,"tokens"][,"logprobs":{…}][,"provenance":{…}]
    ///
    /// - Parameters:
    ///   - reasoning: the completion with the reasoning before the answer.
    ///   - use: of the reasoning; nil if there is none.
    ///   - finishReason: nil if unknown.
    ///   - tokens: ids, those of the reasoning included; nil unless the job asks for them.
    ///   - logprobs: an entry for each token; nil unless the job asks for them.
    static func completion(
        _ text: String, after reasoning: SamplingDecoding? = nil,
        as use: RequestSettings.ReasoningUse? = nil, calls: JSONValue? = nil,
        finishReason: FinishReason? = nil, probabilities: [(String, Double)]? = nil, promptTokens: Int,
        completionTokens: Int, seed: Int = 0, tokens: [Int32]? = nil, logprobs: [JSONValue]? = nil,
        provenance: [String: String] = [:]
    ) -> Self {
        let thought = use == nil ? nil : reasoning
        let before = use == .keep ? 0 : thought?.tokensBeforeAnswer ?? 0
        var own: JSONObject = [:]
        own["text"] = .string(use == .keep ? (thought?.reasoning ?? "") + text : text)
        if use == .separate, let thought { own["reasoning"] = .string(thought.reasoningContent ?? "") }
        own["tool_calls"] = calls
        if thought?.reasoningIsCut == true { own["reasoning_cut"] = true }
        own["finish_reason"] = finishReason.map { .string($0.rawValue) } ?? .null
        own["probabilities"] = probabilities.map { choices in
            .object(JSONObject(distinct: choices.map { JSONMember(name: $0, value: .plain($1)) }))
        }
        own["usage"] = usage(promptTokens, completionTokens, reasoning: thought?.reasoningTokens)
        own["seed"] = .int(seed)
        own["tokens"] = tokens.map { .array($0.dropFirst(before).map { .int(Int($0)) }) }
        own["logprobs"] = logprobs.map { ["content": .array(Array($0.dropFirst(before)))] }
        own["provenance"] = Self.provenance(provenance)
        return Self(own)
    }
}
