/// Why a completion ended.
package enum FinishReason: String, Sendable {
    /// The model's end of sequence.
    case stop
    /// `max_tokens` reached, or the end of the context.
    case length
    /// A stop string came up; the text is cut before it.
    case stopSequence = "stop_sequence"
}
