import BatchEngine
import FoundationShim
import JSON

/// Answer to one of OpenAI's requests: in a line of batch results, over HTTP as a whole, or as events of a stream.
package struct OpenAIAnswer: Sendable {
    /// Own id, without the prefix of the kind of object; in a file it derives from the line's content.
    package let id: String
    let model: String
    let endpoint: OpenAIRequest.Endpoint
    /// Seconds since 1970; 0 in a file, so that it is reproducible.
    let created: Int
    /// Digest of the run.
    private var run = ""
    /// The part of the request that results need.
    private var request = OpenAIRequest()
    /// Whether it is one line of several, so that an error names it.
    private var isLine = false

    package init(id: String, model: String, created: Int, endpoint: OpenAIRequest.Endpoint) {
        (self.id, self.model, self.created, self.endpoint) = (id, model, created, endpoint)
    }

    /// Answer in a line of a file.
    init(id: String, model: String, run: String, request: OpenAIRequest) {
        self.init(id: id, model: model, created: 0, endpoint: request.endpoint)
        (self.run, self.request, isLine) = (run, request, true)
    }

    /// Writes the members of `response` in a line.
    /// - Parameter results: the line's choices, in order; at least one.
    func write(_ results: [GenerationResult], to writer: inout JSONWriter) {
        let (status, body) = whole(results)
        writer.int("status_code", status)
        writer.string("request_id", "req_\(id)")
        writer.raw("body", String(decoding: body, as: UTF8.self))
    }

    /// - Parameters:
    ///   - results: the choices, in order; at least one.
    ///   - run: digest of the run.
    package func whole(_ results: [GenerationResult], run: String) -> (status: Int, body: [UInt8]) {
        var answer = self
        (answer.run, answer.request) = (run, OpenAIRequest(of: results[0]))
        return answer.whole(results)
    }

    private func whole(_ results: [GenerationResult]) -> (status: Int, body: [UInt8]) {
        let failure = results.lazy.compactMap(Self.failure).first
        let choices = results.compactMap(\.made?.completion)
        let writer = JSONWriter.object { writer in
            if let failure { return write(failure, &writer) }
            switch endpoint {
            case .chat: writeChoices("chatcmpl", "chat.completion", choices, &writer, writeMessage)
            case .completions: writeChoices("cmpl", "text_completion", choices, &writer, writeText)
            case .responses: writeResponse(choices[0], &writer)
            }
        }
        return (failure.map(Self.status) ?? 200, writer.bytes)
    }

    private static func failure(of result: GenerationResult) -> GenerationResult.Failure? {
        switch result.content {
        case .failed(let failure): return failure
        case .made(let made):
            if made.completion != nil { return nil }
            // A kept result of an earlier run with another task.
            let error = LineError(.badField, "The line has a score of an earlier run, and no answer.")
            return .init(error, line: 0)
        }
    }

    // MARK: Errors

    private static func status(of failure: GenerationResult.Failure) -> Int {
        switch failure.error.code {
        case .notFinite, .nothingAllowed, .invalidAnswer: 500
        default: 400
        }
    }

    private func write(_ failure: GenerationResult.Failure, _ writer: inout JSONWriter) {
        writer.object("error") { writer in
            writer.string("message", failure.error.message)
            writer.string("type", Self.status(of: failure) == 500 ? "server_error" : "invalid_request_error")
            writer.null("param")
            writer.string("code", failure.error.code.rawValue)
            if let file = failure.file { writer.string("file", file) }
            if isLine { writer.int("line", failure.line) }
            if let text = failure.text { writer.string("text", text) }
        }
    }

    // MARK: Completions and chats

    private func writeChoices(
        _ prefix: String, _ kind: String, _ completions: [GeneratedResult],
        _ writer: inout JSONWriter, _ write: (GeneratedResult, inout JSONWriter) -> Void
    ) {
        writeHead(prefix, kind, &writer)
        writer.array("choices") { writer in
            for (index, completion) in completions.enumerated() {
                writer.object { writer in
                    writer.int("index", index)
                    write(completion, &writer)
                    writer.optional("finish_reason", completion.finishReason) {
                        $0.string(Self.name(of: $1))
                    }
                    completion.writeProbabilities(to: &writer)
                    if let tokens = completion.tokens {
                        writer.array("token_ids") { writer in for token in tokens { writer.int(token) } }
                    }
                }
            }
        }
        Self.writeUsage(completions, of: request, &writer)
        writer.string("system_fingerprint", "fp_\(run)")
    }

    func writeHead(_ prefix: String, _ kind: String, _ writer: inout JSONWriter) {
        writer.string("id", "\(prefix)-\(id)")
        writer.string("object", kind)
        writer.int("created", created)
        writer.string("model", model)
    }

    package static func promptTokens(of results: [GenerationResult]) -> Int {
        let made = results.compactMap(\.made?.completion)
        return made.isEmpty ? 0 : promptTokens(made, of: OpenAIRequest(of: results[0]))
    }

    /// Returns the tokens of all prompts, each of which may have several completions.
    private static func promptTokens(_ completions: [GeneratedResult], of request: OpenAIRequest) -> Int {
        let each = max(1, completions.count / max(1, request.prompts.count))
        return stride(from: 0, to: completions.count, by: each).reduce(0) {
            $0 + completions[$1].promptTokens
        }
    }

    static func writeUsage(
        _ completions: [GeneratedResult], of request: OpenAIRequest, _ writer: inout JSONWriter
    ) {
        let prompt = promptTokens(completions, of: request)
        let made = completions.reduce(0) { $0 + $1.completionTokens }
        writer.object("usage") { writer in
            writer.int("prompt_tokens", prompt)
            writer.int("completion_tokens", made)
            writer.int("total_tokens", prompt + made)
            let reasonings = completions.compactMap(\.reasoningTokens)
            if !reasonings.isEmpty {
                writer.object("completion_tokens_details") {
                    $0.int("reasoning_tokens", reasonings.reduce(0, +))
                }
            }
        }
    }

    static func name(of reason: FinishReason) -> String {
        switch reason {
        case .length, .reasoningLength: "length"
        case .toolCalls: "tool_calls"
        case .stop, .stopSequence: "stop"
        }
    }

    private func writeMessage(_ completion: GeneratedResult, _ writer: inout JSONWriter) {
        writer.object("message") { writer in
            writer.string("role", "assistant")
            if completion.toolCalls != nil, completion.text.isEmpty {
                writer.null("content")
            } else {
                writer.string("content", completion.text)
            }
            if let reasoning = completion.reasoning { writer.string("reasoning_content", reasoning) }
            if let calls = completion.toolCalls { ToolCall.write(calls, to: &writer) }
            writer.null("refusal")
        }
        Self.writeLogprobs(completion, &writer)
    }

    static func writeLogprobs(_ completion: GeneratedResult, _ writer: inout JSONWriter) {
        writer.key("logprobs")
        guard let entries = completion.logprobs else { return writer.null() }
        writer.object { writer in
            writer.array("content") { writer in for entry in entries { entry.write(to: &writer) } }
            writer.null("refusal")
        }
    }

    private func writeText(_ completion: GeneratedResult, _ writer: inout JSONWriter) {
        writer.string("text", completion.text)
        Self.writeTextLogprobs(completion, of: request, &writer)
    }

    static func writeTextLogprobs(
        _ completion: GeneratedResult, of request: OpenAIRequest, _ writer: inout JSONWriter
    ) {
        writer.key("logprobs")
        guard let entries = completion.logprobs else { return writer.null() }
        // Nothing comes before a prompt's first token.
        func isFirst(_ place: Int) -> Bool { request.echoes && place == 0 }
        writer.object { writer in
            writer.array("tokens") { writer in for entry in entries { writer.string(entry.token.name) } }
            writer.array("token_logprobs") { writer in
                for (place, entry) in entries.enumerated() {
                    isFirst(place) ? writer.null() : writer.number(entry.token.logprob)
                }
            }
            writer.array("top_logprobs") { writer in
                for (place, entry) in entries.enumerated() {
                    if isFirst(place) {
                        writer.null()
                        continue
                    }
                    var tops = JSONObject()
                    for token in entry.top { _ = tops.insert(.plain(token.logprob), for: token.name) }
                    writer.value(.object(tops))
                }
            }
            // Length of the text in characters; a token adds to it when it completes one.
            let length = completion.text.unicodeScalars.count
            var (offset, repair, whole) = (0, UTF8Repair(), [UInt8]())
            let isStripped =
                entries.first?.token.namedBytes.first == 0x20 && completion.text.utf8.first != 0x20
            writer.array("text_offset") { writer in
                for entry in entries {
                    writer.int(min(max(0, offset - (isStripped ? 1 : 0)), length))
                    repair.feed(entry.token.namedBytes, into: &whole)
                    offset += whole.count { $0 & 0xC0 != 0x80 }
                    whole.removeAll(keepingCapacity: true)
                }
            }
        }
    }

    // MARK: Responses

    private func writeResponse(_ completion: GeneratedResult, _ writer: inout JSONWriter) {
        let isCut = completion.finishReason?.isLimit == true
        writeHead(isCut ? "incomplete" : "completed", isCut: isCut, &writer)
        writer.array("output") { writer in
            for item in ResponseItem.all(of: completion, id) {
                writer.object { item.write(to: &$0, isDone: true) }
            }
        }
        writeTools(completion.toolCalls != nil, &writer)
        writer.object("usage") { writer in
            writer.int("input_tokens", completion.promptTokens)
            writer.object("input_tokens_details") { writer in
                writer.int("cached_tokens", 0)
                writer.int("cache_write_tokens", 0)
            }
            writer.int("output_tokens", completion.completionTokens)
            writer.object("output_tokens_details") {
                $0.int("reasoning_tokens", completion.reasoningTokens ?? 0)
            }
            writer.int("total_tokens", completion.promptTokens + completion.completionTokens)
        }
        writer.object("metadata") { $0.string("run", run) }
    }

    /// Writes a response without any content yet.
    func writeBegun(to writer: inout JSONWriter) {
        writeHead("in_progress", isCut: false, &writer)
        writer.array("output") { _ in }
        writeTools(false, &writer)
        writer.null("usage")
        writer.object("metadata") { _ in }
    }

    private func writeHead(_ status: String, isCut: Bool, _ writer: inout JSONWriter) {
        writer.string("id", "resp_\(id)")
        writer.string("object", "response")
        writer.int("created_at", created)
        writer.string("status", status)
        writer.null("error")
        writer.key("incomplete_details")
        if isCut { writer.object { $0.string("reason", "max_output_tokens") } } else { writer.null() }
        writer.string("model", model)
    }

    private func writeTools(_ areCalled: Bool, _ writer: inout JSONWriter) {
        writer.bool("parallel_tool_calls", areCalled)
        writer.string("tool_choice", areCalled ? "auto" : "none")
        writer.array("tools") { _ in }
    }
}
