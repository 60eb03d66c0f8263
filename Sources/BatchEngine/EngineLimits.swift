/// The fixed facts of a loaded model that a scheduler needs.
public struct ModelLimits: Sendable, Equatable {
    /// The longest sequence, prompt and completion together, in tokens.
    public var contextLength: Int
    public var vocabularySize: Int
    /// Any of these ends a completion; they are not part of its text.
    public var endOfSequence: Set<Int32>

    public init(contextLength: Int, vocabularySize: Int, endOfSequence: Set<Int32>) {
        self.contextLength = contextLength
        self.vocabularySize = vocabularySize
        self.endOfSequence = endOfSequence
    }
}
