/// Why a completion ended.
package enum FinishReason: String, Sendable {
    /// The model's end of sequence, or a constraint lets nothing follow.
    case stop
    /// `max_tokens` reached, or the end of the context; or a constraint left out what would not have fitted.
    case length
    /// `max_tokens` reached before the reasoning had ended: there is no answer.
    case reasoningLength = "reasoning_length"
    /// The answer calls functions.
    case toolCalls = "tool_calls"
    /// A stop string came up; the text is cut before it.
    case stopSequence = "stop_sequence"

    /// Whether a limit ended the completion, which might have gone on.
    package var isLimit: Bool { self == .length || self == .reasoningLength }
}
