import BatchEngine
import PhiText

/// What a model thinks before it answers a line, and what becomes of it in the result.
struct Reasoning: Sendable {
    typealias Use = RequestSettings.ReasoningUse

    let use: Use
    /// With the limit that was asked for, before an answer that may be anything.
    let thought: Thought

    /// - Returns: nil if nothing is taken for a thought.
    /// - Throws: `LineError` if thoughts are limited that are none.
    init?(_ question: EncodedQuestion, maxTokens: Int, _ model: LinePreparer.Model) throws(LineError) {
        let settings = question.settings
        if let problem = settings.reasoningProblem(model.text.thoughts) {
            throw LineError(.badField, problem)
        }
        guard let thoughts = model.text.thoughts,
            let use = settings.reasoningUse(isUsual: thoughts.isUsual),
            let thought = thoughts.thought(
                after: question.content, question.tokens, settings, maxTokens: maxTokens, of: model.limits)
        else { return nil }
        (self.use, self.thought) = (use, thought)
    }

    /// The thought before an answer of a form.
    /// - Parameter least: the tokens that the answer has at least.
    /// - Throws: `LineError` if there is no room for both.
    func formed(_ gap: [Int32], maxTokens: Int, least: Int) throws(LineError) -> Thought {
        var thought = thought
        thought.gap = gap
        let room = maxTokens - thought.leastTokens - least
        guard room >= 0 else {
            throw LineError(
                .maxTokensTooSmall,
                "The completion may have \(maxTokens) tokens (max_tokens, or what the context leaves), but the shortest "
                    + "thought and the shortest answer of the form that is asked for have \(maxTokens - room)."
            )
        }
        let wanted = min(thought.limit ?? maxTokens * 3 / 4, maxTokens - thought.leastTokens - maxTokens / 8)
        // With no room for a thought its limit is the first token, as none at all would need other ones.
        if thought.limit != 0 { thought.limit = max(1, min(wanted, room)) }
        return thought
    }
}

extension RequestSettings {
    /// What is wrong with what they say of thoughts, in a sentence; nil if nothing is.
    /// - Parameter thoughts: the model's; nil if it has no tokenizer.
    func reasoningProblem(_ thoughts: ThoughtText?) -> String? {
        if reasoning != nil {
            return thoughts == nil ? "reasoning needs a tokenizer, and the model folder has none." : nil
        }
        let asksForThoughts = reasoningEffort.map { $0 != "none" } ?? false
        guard thoughts?.isUsual != true, maxReasoningTokens != nil || asksForThoughts else { return nil }
        return
            "\(maxReasoningTokens == nil ? "reasoning_effort" : "max_reasoning_tokens") says how long the model may "
            + "think, but its files don't say that it does; the job's reasoning: separate takes what is between <think> "
            + "and </think> for a thought."
    }
}

extension GeneratedResult {
    /// What becomes of a thought before the answer.
    mutating func add(_ completion: SamplingCourse, as use: Reasoning.Use?) {
        guard let use else { return }
        reasoningTokens = completion.thoughtTokens
        reasoningIsCut = completion.thoughtIsCut
        if use != .keep {
            tokens = tokens.map { Array($0.dropFirst(completion.tokensBeforeAnswer)) }
            logprobs = logprobs.map { Array($0.dropFirst(completion.tokensBeforeAnswer)) }
        }
        switch use {
        case .drop: break
        case .keep: text = completion.thought + text
        case .separate: reasoning = completion.thoughtContent ?? ""
        }
    }
}
