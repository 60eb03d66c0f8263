import BatchEngine

/// The part of a model that makes prompts: tokenizer, template and limits. Reads no weights.
package struct ModelText: Sendable {
    package let text: any TextCoding
    package let limits: ModelLimits
    private let tokenizer: Tokenizer?

    /// - Throws: `UserError` naming the file and key at fault.
    package init(folder: String) throws {
        let shape = try Architectures.read(folder: folder).shape
        let codec = try TextCodec(folder: folder)
        tokenizer = codec?.tokenizer
        text = codec ?? NoText()
        limits = ModelLimits(shape, codec)
    }

    /// Returns a prompt as the model sees it; as ids without a tokenizer.
    package func shown(_ prompt: [Int32]) -> String {
        tokenizer?.decode(prompt, skipSpecialTokens: false)
            ?? prompt.map(String.init).joined(separator: " ")
    }
}

extension ModelLimits {
    init(_ shape: ModelShape, _ codec: TextCodec?) {
        self.init(
            contextLength: shape.contextLength, vocabularySize: shape.vocabularySize,
            endOfSequence: shape.endOfSequence.union(codec?.turnEnds ?? []),
            shortRopeLength: shape.rope.shortLength)
    }
}
