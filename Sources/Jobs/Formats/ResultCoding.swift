import Essentials
import JSON

/// A result as members of a JSON object, the same in the journal and in native outputs. All JSON of results is
/// written and read here.
///
///     "text","finish_reason"[,"probabilities":{…}],"usage":{…},"seed"[,"tokens"][,"logprobs":{…}][,"provenance":{…}]<kept>[,"timing":{…}]
///     <scores, see ResultCoding+Scores><kept>[,"timing":{…}]
///     "error":{"code","message"[,"file"],"line"[,"text"]}<kept>
///
/// Members of any other name are those of the input's line that the job keeps. What differs from run to run is in
/// `timing`, at the end.
package enum ResultCoding {
    /// - Returns: where in the writer's bytes that stands which is between the braces of `timing`; empty if there is
    ///   none.
    @discardableResult
    package static func write(_ result: GenerationResult, to writer: inout JSONWriter) -> Range<Int> {
        switch result {
        case .completion(let completion):
            write(completion, &writer)
            write(completion.kept, &writer)
            guard let timing = completion.timing else { return 0..<0 }
            return write(timing, &writer)
        case .scored(let scored):
            write(scored, &writer)
            write(scored.kept, &writer)
            guard let timing = scored.timing else { return 0..<0 }
            return write(timing, &writer)
        case .failure(let failure):
            write(failure, &writer)
            write(failure.kept, &writer)
            return 0..<0
        }
    }

    private static func write(_ completion: GenerationResult.Completion, _ writer: inout JSONWriter) {
        writer.string("text", completion.text)
        writer.key("finish_reason")
        completion.finishReason.map { writer.string($0.rawValue) } ?? writer.null()
        if let probabilities = completion.probabilities { write(probabilities, &writer) }
        writeUsage(completion.promptTokens, completion.completionTokens, &writer)
        writer.int("seed", completion.seed)
        if let tokens = completion.tokens { write(tokens, &writer) }
        if let logprobs = completion.logprobs {
            writer.object("logprobs") { writer in
                writer.array("content") { writer in for entry in logprobs { entry.write(to: &writer) } }
            }
        }
        write(completion.provenance, &writer)
    }

    static func writeUsage(_ prompt: Int, _ completion: Int, _ writer: inout JSONWriter) {
        writer.object("usage") { writer in
            writer.int("prompt_tokens", prompt)
            writer.int("completion_tokens", completion)
        }
    }

    static func write(_ tokens: [Int32], _ writer: inout JSONWriter) {
        writer.array("tokens") { writer in for token in tokens { writer.int(token) } }
    }

    static func write(_ provenance: [GenerationResult.NamedValue], _ writer: inout JSONWriter) {
        guard !provenance.isEmpty else { return }
        writer.object("provenance") { writer in
            for part in provenance { writer.string(part.name, part.value) }
        }
    }

    private static func write(_ kept: [GenerationResult.KeptValue], _ writer: inout JSONWriter) {
        for value in kept {
            writer.key(value.name)
            writer.raw(value.json)
        }
    }

    private static func write(_ timing: GenerationResult.Timing, _ writer: inout JSONWriter) -> Range<Int> {
        writer.key("timing")
        let start = writer.bytes.count + 1
        writer.object { writer in
            writer.number("queued", timing.queued)
            writer.number("prefill", timing.prefill)
            writer.number("decode", timing.decode)
            writer.number("tokens_per_second", timing.tokensPerSecond)
            if let ended = timing.ended { writer.number("ended", ended) }
        }
        return start..<writer.bytes.count - 1
    }

    private static func write(_ failure: GenerationResult.Failure, _ writer: inout JSONWriter) {
        writer.object("error") { writer in
            writer.string("code", failure.error.code.rawValue)
            writer.string("message", failure.error.message)
            if let file = failure.file {
                writer.string("file", file)
            }
            writer.int("line", failure.line)
            if let text = failure.text { writer.string("text", text) }
        }
    }
}
