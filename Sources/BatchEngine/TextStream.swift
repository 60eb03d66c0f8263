/// Decodes the tokens of one completion one by one, and never emits part of a character.
package protocol TextStream: Sendable {
    /// Returns the text that is complete with this token; may be empty.
    mutating func append(_ token: Int32) -> String
    /// Returns the rest at the end. An incomplete character becomes U+FFFD.
    mutating func finish() -> String
    /// Drops an incomplete character at the end. Does nothing by default.
    mutating func dropHalfCharacter()
}

extension TextStream {
    package mutating func dropHalfCharacter() {}
}
