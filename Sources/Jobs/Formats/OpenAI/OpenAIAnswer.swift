import BatchEngine
import FoundationShim
import JSON

/// Answer to one of OpenAI's requests: in a line of batch results, over HTTP as a whole, or as events of a stream.
package struct OpenAIAnswer: Sendable {
    /// Own id, without the prefix of the kind of object; in a file it derives from the line's content.
    package let id: String
    let model: String
    let endpoint: OpenAIRequest.Endpoint
    /// Seconds since 1970; 0 in a file, so that two runs write the same.
    let created: Int

    package init(id: String, model: String, created: Int, endpoint: OpenAIRequest.Endpoint) {
        (self.id, self.model, self.created, self.endpoint) = (id, model, created, endpoint)
    }

    /// - Parameters:
    ///   - results: the choices, in order; at least one.
    ///   - run: digest of the run.
    package func whole(_ results: [GenerationResult], run: String) -> (status: Int, body: [UInt8]) {
        whole(results, run: run, of: OpenAIRequest(of: results[0]))
    }

    func whole(
        _ results: [GenerationResult], run: String, of request: OpenAIRequest
    ) -> (status: Int, body: [UInt8]) {
        if let failed = results.lazy.compactMap(Self.failure).first, let failure = failed.failure {
            let isOurs = [.notFinite, .nothingAllowed, .invalidAnswer].contains(failure.code)
            let names = created == 0 ? ["file", "line", "text"] : ["file", "text"]
            let error = Self.error(
                failure.message, status: isOurs ? 500 : 400, code: failure.code.rawValue,
                more: names.compactMap { name in failed.error?[name].map { (name, $0) } })
            return (isOurs ? 500 : 400, Array(JSONWriter.text(of: error).utf8))
        }
        let writer = JSONWriter.object { writer in
            if endpoint == .responses { return writeResponse((results[0], run), to: &writer) }
            let parts = results.enumerated().map { index, choice -> ChoicePart in
                (index, choice.text ?? "", choice.reasoning, true, choice)
            }
            write(parts, of: request, isEvent: false, usage: results, to: &writer)
            writer.string("system_fingerprint", "fp_\(run)")
        }
        return (200, writer.bytes)
    }

    private static func failure(of result: GenerationResult) -> GenerationResult? {
        if result.isFailed { return result }
        if result.text != nil { return nil }
        // A kept result of an earlier run with another task.
        let error = LineError(.badField, "The line has a score of an earlier run, and no answer.")
        return .failure(error, line: 0)
    }

    // MARK: Errors

    /// Returns the body of an error answer.
    /// - Parameter more: further members of the error.
    package static func error(
        _ message: String, status: Int, code: String?, param: String? = nil,
        more: [(String, JSONValue)] = []
    ) -> JSONValue {
        let type =
            switch status {
            case 401, 403: "authentication_error"
            case 404: "not_found_error"
            case 429: "rate_limit_error"
            case 500...: "server_error"
            default: "invalid_request_error"
            }
        let members: [(String, JSONValue)] = [
            ("message", .string(message)), ("type", .string(type)),
            ("param", param.map { .string($0) } ?? .null), ("code", code.map { .string($0) } ?? .null),
        ]
        return ["error": .object(JSONObject(members + more))]
    }

    // MARK: Completions and chats

    /// A choice, or what an event adds to one; `end` is the whole choice, nil if more follows.
    typealias ChoicePart = (
        index: Int, text: String, reasoning: String?, isFirst: Bool, end: GenerationResult?
    )

    /// Writes a chat or a completion, or an event of one.
    /// - Parameter usage: the completions whose tokens are counted.
    func write(
        _ parts: [ChoicePart], of request: OpenAIRequest = OpenAIRequest(), isEvent: Bool,
        usage: [GenerationResult]? = nil, to writer: inout JSONWriter
    ) {
        let isChat = endpoint == .chat
        writer.string("id", "\(isChat ? "chatcmpl" : "cmpl")-\(id)")
        let chat = isEvent ? "chat.completion.chunk" : "chat.completion"
        writer.string("object", isChat ? chat : "text_completion")
        writer.int("created", created)
        writer.string("model", model)
        writer.objects("choices", parts) { writer, part in
            writer.int("index", part.index)
            if isChat {
                writer.object(isEvent ? "delta" : "message") { write(part, isEvent: isEvent, to: &$0) }
                writer.optional("logprobs", part.end?.logprobs) { writer, entries in
                    writer.object { writer in
                        writer.array("content", entries) { $0.value($1) }
                        writer.null("refusal")
                    }
                }
            } else {
                writer.string("text", part.text)
                writer.optional("logprobs", part.end?.logprobs) { writer, entries in
                    let text = part.end?.text ?? ""
                    writer.object { Self.write(entries, of: text, echoed: request.echoes, to: &$0) }
                }
            }
            writer.optional("finish_reason", part.end?.finishReason) { $0.string(Self.name(of: $1)) }
            for (name, own) in [("probabilities", "probabilities"), ("token_ids", "tokens")] {
                if let value = part.end?.own[own] { writer.value(name, value) }
            }
        }
        if let usage { Self.writeUsage(usage, of: request, &writer) }
    }

    private func write(_ part: ChoicePart, isEvent: Bool, to writer: inout JSONWriter) {
        let calls = part.end?.own["tool_calls"]?.elements
        if part.isFirst { writer.string("role", "assistant") }
        let hasContent = !part.text.isEmpty || !isEvent && calls == nil
        writer.optional("content", hasContent ? part.text : nil) { $0.string($1) }
        if let reasoning = part.reasoning { writer.string("reasoning_content", reasoning) }
        if let calls {
            writer.objects("tool_calls", calls.enumerated()) { writer, call in
                if isEvent { writer.int("index", call.offset) }
                if case .object(let members) = call.element { writer.members(members) }
            }
        }
        writer.null("refusal")
    }

    package static func promptTokens(of results: [GenerationResult]) -> Int {
        let made = results.filter { $0.text != nil }
        return made.isEmpty ? 0 : promptTokens(made, of: OpenAIRequest(of: results[0]))
    }

    /// Returns the tokens of all prompts, each of which may have several completions.
    private static func promptTokens(_ completions: [GenerationResult], of request: OpenAIRequest) -> Int {
        let each = max(1, completions.count / max(1, request.prompts.count))
        return stride(from: 0, to: completions.count, by: each).reduce(0) {
            $0 + completions[$1].promptTokens
        }
    }

    private static func writeUsage(
        _ completions: [GenerationResult], of request: OpenAIRequest, _ writer: inout JSONWriter
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

    private static func name(of reason: FinishReason) -> String {
        switch reason {
        case .length, .reasoningLength: "length"
        case .toolCalls: "tool_calls"
        case .stop, .stopSequence: "stop"
        }
    }

    private static func write(
        _ entries: [JSONValue], of text: String, echoed: Bool, to writer: inout JSONWriter
    ) {
        writer.array("tokens", entries) { $0.string(LogprobEntry.name(of: $1)) }
        // Nothing comes before a prompt's first token.
        let entriesOrFirst = entries.enumerated().map { $0 == 0 && echoed ? .null : $1 }
        writer.array("token_logprobs", entriesOrFirst) { writer, entry in
            writer.value(entry["logprob"] ?? .null)
        }
        writer.array("top_logprobs", entriesOrFirst) { writer, entry in
            guard let top = entry["top_logprobs"]?.elements else { return writer.null() }
            var tops = JSONObject()
            for token in top {
                _ = tops.insert(token["logprob"] ?? .null, for: LogprobEntry.name(of: token))
            }
            writer.value(.object(tops))
        }
        // Length of the text in characters; a token adds to it when it completes one.
        let length = text.unicodeScalars.count
        var (offset, repair, whole) = (0, UTF8Repair(), [UInt8]())
        let isStripped = entries.first.map(LogprobEntry.bytes)?.first == 0x20 && text.utf8.first != 0x20
        writer.array("text_offset", entries) { writer, entry in
            writer.int(min(max(0, offset - (isStripped ? 1 : 0)), length))
            repair.feed(LogprobEntry.bytes(of: entry), into: &whole)
            offset += whole.count { $0 & 0xC0 != 0x80 }
            whole.removeAll(keepingCapacity: true)
        }
    }

    // MARK: Responses

    /// - Parameter whole: the completion, and the digest of the run; nil if it is still to come.
    func writeResponse(_ whole: (completion: GenerationResult, run: String)?, to writer: inout JSONWriter) {
        let completion = whole?.completion
        let isCut = completion?.finishReason?.isLimit == true
        writer.string("id", "resp_\(id)")
        writer.string("object", "response")
        writer.int("created_at", created)
        writer.string("status", whole == nil ? "in_progress" : isCut ? "incomplete" : "completed")
        writer.null("error")
        writer.optional("incomplete_details", isCut ? "max_output_tokens" : nil) { writer, reason in
            writer.object { $0.string("reason", reason) }
        }
        writer.string("model", model)
        writer.objects("output", completion.map { ResponseItem.all(of: $0, id) } ?? []) {
            $1.write(to: &$0, isDone: true)
        }
        let areCalled = completion?.own["tool_calls"] != nil
        writer.bool("parallel_tool_calls", areCalled)
        writer.string("tool_choice", areCalled ? "auto" : "none")
        writer.array("tools") { _ in }
        writer.optional("usage", completion) { writer, completion in
            writer.object { writer in
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
        }
        writer.object("metadata") { if let whole { $0.string("run", whole.run) } }
    }
}
