import BatchEngine

/// Turns the ids of one completion into text as they come.
///
/// All it gives, put together, is `decode(ids, skipSpecialTokens: true)` of the completion's ids, taken as
/// a text of their own. So where the decoder strips a space at the start of a text (Phi-3's does), the
/// first word of a completion comes without its space, just as in Hugging Face's decoding of the
/// completion.
///
/// Text is given as soon as no later token can change it. Half a character is held back; so is a run of
/// byte tokens (`<0x..>`) until another token ends it, for one wrong byte in it changes the whole run.
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
