/// Turns the ids of one completion into text, token by token, never emitting half a character.
package protocol TextStream: Sendable {
    /// The text that becomes certain with this token; may be empty.
    mutating func append(_ token: Int32) -> String
    /// What is left at the end (an incomplete character becomes U+FFFD).
    mutating func finish() -> String
    /// Forgets half a character at the end, whose rest won't come; the default has none.
    mutating func dropHalfCharacter()
}

extension TextStream {
    package mutating func dropHalfCharacter() {}
}
