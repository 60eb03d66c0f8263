import BatchEngine

/// A complete answer and its cost.
public struct Answer: Sendable, Equatable {
    public typealias Ending = FinishReason

    public let text: String
    /// The model's reasoning before it; nil if that is not kept apart.
    public let reasoning: String?
    /// The completion's token ids, without the end of sequence.
    public let tokens: [Int32]
    public let ending: Ending
    /// Tokens of the prompt, the chat template's included.
    public let promptTokens: Int
    /// Seconds from its first step to its first token.
    public let prefillSeconds: Double
    /// Seconds from its first token to its last. Answers that run beside it make it longer.
    public let decodeSeconds: Double

    /// Completion tokens a second, without the prefill.
    public var tokensPerSecond: Double {
        decodeSeconds > 0 ? Double(max(0, tokens.count - 1)) / decodeSeconds : 0
    }
}

/// A piece of an answer while it is generated.
public enum AnswerPart: Sendable, Equatable {
    /// More text, in whole characters.
    case text(String)
    /// More of the model's reasoning before the answer, with its tags.
    case reasoning(String)
    /// The last part.
    case end(Answer)
}

extension Answer {
    /// Creates the answer to a request for no tokens.
    init(promptTokens: Int) {
        self.init(
            text: "", reasoning: nil, tokens: [], ending: .length, promptTokens: promptTokens,
            prefillSeconds: 0,
            decodeSeconds: 0)
    }

    init(_ sequence: TokenSequence, _ reasoning: RequestSettings.ReasoningUse?) {
        let (completion, clock) = (sequence.decoding.of(SamplingDecoding.self), sequence.stoppedClock)
        self.init(
            text: reasoning == .keep ? completion.reasoning + completion.text : completion.text,
            reasoning: reasoning == .separate ? completion.reasoningContent : nil,
            tokens: completion.sampled, ending: completion.finishReason ?? .length,
            promptTokens: sequence.request.prompt.count, prefillSeconds: clock.prefill,
            decodeSeconds: clock.decode)
    }
}
