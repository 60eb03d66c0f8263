import JSON

/// A result as members of a JSON object, the same in the journal and in native outputs.
///
///     <members, see the task's result><kept>[,"timing":{…}]
///     "error":{"code","message"[,"file"],"line"[,"text"]}<kept>
///
/// Members of any other name are those of the input's line that the job keeps. What differs from run to run is in
/// `timing`, at the end.
package enum ResultCoding {
    /// - Returns: where in the writer's bytes that stands which is between the braces of `timing`; empty if there is
    ///   none.
    @discardableResult
    package static func write(_ result: GenerationResult, to writer: inout JSONWriter) -> Range<Int> {
        switch result.content {
        case .made(let made): made.write(to: &writer)
        case .failed(let failure): write(failure, &writer)
        }
        write(result.kept, &writer)
        return result.timing.map { write($0, &writer) } ?? 0..<0
    }

    /// The data alone, or the error.
    static func writeData(of result: GenerationResult, to writer: inout JSONWriter) {
        switch result.content {
        case .made(let made): made.writeData(to: &writer)
        case .failed(let failure): write(failure, &writer)
        }
        write(result.kept, &writer)
    }

    /// An object of its members.
    static func text(of result: GenerationResult) -> String {
        JSONWriter.object { _ = write(result, to: &$0) }.text
    }

    private static func write(_ kept: [GenerationResult.KeptValue], _ writer: inout JSONWriter) {
        for value in kept {
            writer.raw(value.name, value.json)
        }
    }

    /// - Parameter reasoning: the tokens of a thought before an answer.
    static func writeUsage(
        of result: some TaskResult, reasoning: Int? = nil, _ writer: inout JSONWriter
    ) {
        writer.object("usage") { writer in
            writer.int("prompt_tokens", result.promptTokens)
            writer.int("completion_tokens", result.completionTokens)
            if let reasoning { writer.int("reasoning_tokens", reasoning) }
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
