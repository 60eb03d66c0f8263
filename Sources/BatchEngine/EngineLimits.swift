/// The fixed facts of a loaded model that a scheduler needs.
package struct ModelLimits: Sendable, Equatable {
    /// The longest sequence, prompt and completion together, in tokens.
    package var contextLength: Int
    package var vocabularySize: Int
    /// Any of these ends a completion; they are not part of its text.
    package var endOfSequence: Set<Int32>
    /// Longer sequences have other rotary factors, in tokens; nil where there is one set only.
    package var shortRopeLength: Int?

    package init(
        contextLength: Int, vocabularySize: Int, endOfSequence: Set<Int32>, shortRopeLength: Int? = nil
    ) {
        self.shortRopeLength = shortRopeLength
        self.contextLength = contextLength
        self.vocabularySize = vocabularySize
        self.endOfSequence = endOfSequence
    }

    /// Whether a sequence of this many tokens in all uses the long rotary factors; nil if there is one set only.
    package func usesLongRope(length: Int, _ wanted: RopeFactors = .byLength) -> Bool? {
        guard let shortRopeLength else { return nil }
        switch wanted {
        case .byLength: return length > shortRopeLength
        case .short: return false
        case .long: return true
        }
    }
}
