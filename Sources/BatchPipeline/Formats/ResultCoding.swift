import Foundations

/// A result as members of a JSON object, the same in the journal and in native outputs. All JSON of results is
/// written and read here.
///
///     "text","finish_reason","usage":{…},"seed"[,"tokens"][,"logprobs":{…}][,"provenance":{…}][,"timing":{…}]
///     "error":{"code","message"[,"file"],"line"}
///
/// What differs from run to run is in `timing`, at the end.
enum ResultCoding {
    /// - Returns: where in the writer's bytes that stands which is between the braces of `timing`; empty if there is
    ///   none.
    @discardableResult
    static func write(_ result: GenerationResult, to writer: inout JSONWriter) -> Range<Int> {
        switch result {
        case .completion(let completion):
            write(completion, &writer)
            guard let timing = completion.timing else { return 0..<0 }
            return write(timing, &writer)
        case .failure(let failure):
            write(failure, &writer)
            return 0..<0
        }
    }

    private static func write(_ completion: GenerationResult.Completion, _ writer: inout JSONWriter) {
        writer.key("text")
        writer.string(completion.text)
        writer.key("finish_reason")
        completion.finishReason.map { writer.string($0.rawValue) } ?? writer.null()
        writer.key("usage")
        writer.object { writer in
            writer.key("prompt_tokens")
            writer.int(completion.promptTokens)
            writer.key("completion_tokens")
            writer.int(completion.completionTokens)
        }
        writer.key("seed")
        writer.int(completion.seed)
        if let tokens = completion.tokens {
            writer.key("tokens")
            writer.array { writer in for token in tokens { writer.int(token) } }
        }
        if let logprobs = completion.logprobs {
            writer.key("logprobs")
            writer.object { writer in
                writer.key("content")
                writer.array { writer in for entry in logprobs { entry.write(to: &writer) } }
            }
        }
        if !completion.provenance.isEmpty {
            writer.key("provenance")
            writer.object { writer in
                for part in completion.provenance {
                    writer.key(part.name)
                    writer.string(part.value)
                }
            }
        }
    }

    private static func write(_ timing: GenerationResult.Timing, _ writer: inout JSONWriter) -> Range<Int> {
        writer.key("timing")
        let start = writer.bytes.count + 1
        writer.object { writer in
            writer.key("queued")
            writer.number(timing.queued)
            writer.key("prefill")
            writer.number(timing.prefill)
            writer.key("decode")
            writer.number(timing.decode)
            writer.key("tokens_per_second")
            writer.number(timing.tokensPerSecond)
        }
        return start..<writer.bytes.count - 1
    }

    private static func write(_ failure: GenerationResult.Failure, _ writer: inout JSONWriter) {
        writer.key("error")
        writer.object { writer in
            writer.key("code")
            writer.string(failure.error.code.rawValue)
            writer.key("message")
            writer.string(failure.error.message)
            if let file = failure.file {
                writer.key("file")
                writer.string(file)
            }
            writer.key("line")
            writer.int(failure.line)
        }
    }
}
