/// Reason why a completion ended.
public enum FinishReason: String, Sendable {
    /// The model chose an end of sequence, or the constraint allows nothing more.
    case stop
    /// It reached `max_tokens` or the end of the context, or a constraint excluded tokens that would not have fitted.
    case length
    /// It reached `max_tokens` within the reasoning: there is no answer.
    case reasoningLength = "reasoning_length"
    /// The answer calls functions; in jobs with tools.
    case toolCalls = "tool_calls"
    /// A stop string was found; the text is cut before it.
    case stopSequence = "stop_sequence"

    /// Whether a limit ended a completion that might have gone on.
    package var isLimit: Bool { self == .length || self == .reasoningLength }
}
