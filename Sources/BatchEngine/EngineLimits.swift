/// Properties of a loaded model that the scheduler needs.
package struct ModelLimits: Sendable, Equatable {
    /// The longest sequence, prompt and completion together, in tokens.
    package var contextLength: Int
    package var vocabularySize: Int
    /// Any of these ends a completion; they are not part of its text.
    package var endOfSequence: Set<Int32>
    /// Length in tokens beyond which sequences use the long rotary factors; nil if the model has one set.
    package var shortRopeLength: Int?

    package init(
        contextLength: Int, vocabularySize: Int, endOfSequence: Set<Int32>, shortRopeLength: Int? = nil
    ) {
        self.shortRopeLength = shortRopeLength
        self.contextLength = contextLength
        self.vocabularySize = vocabularySize
        self.endOfSequence = endOfSequence
    }

    /// Whether a sequence of up to `length` tokens uses the long rotary factors; nil if the model has one set.
    package func usesLongRope(length: Int, _ wanted: RopeFactors = .auto) -> Bool? {
        guard let shortRopeLength else { return nil }
        switch wanted {
        case .auto: return length > shortRopeLength
        case .short: return false
        case .long: return true
        }
    }
}
