import BatchEngine

/// Decodes the tokens of one completion as they are generated.
///
/// The concatenated output is `decode(ids, skipSpecialTokens: true)` of the completion's ids alone. So if the decoder
/// strips a leading space (Phi-3's does), the first word of a completion has none, just as in Hugging Face's decoding.
///
/// Text is returned as soon as no later token can change it. An incomplete character is held back, and so is a run of
/// byte tokens (`<0x..>`) until another token ends it, as one wrong byte changes the whole run.
package struct TokenTextStream: TextStream {
    private let tokenizer: Tokenizer
    private let shown: Set<Int32>
    private var run: DecoderRun

    init(_ tokenizer: Tokenizer, _ steps: [DecoderStep], showing shown: Set<Int32>) {
        self.shown = shown
        self.tokenizer = tokenizer
        run = DecoderRun(steps)
    }

    package mutating func append(_ token: Int32) -> String {
        guard !tokenizer.isSpecial(token) || shown.contains(token), let content = tokenizer.content(of: token)
        else { return "" }
        run.feed(content)
        return run.take()
    }

    package mutating func dropHalfCharacter() { run.dropHalfCharacter() }

    package mutating func finish() -> String {
        run.finish()
        return run.take()
    }
}
