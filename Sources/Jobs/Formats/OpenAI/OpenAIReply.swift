import JSON

/// Answer to one of OpenAI's requests over HTTP: whole, or as events of a stream.
package struct OpenAIReply: Sendable {
    package typealias Endpoint = OpenAIRequest.Endpoint

    /// Own id, without the prefix of the kind of object.
    package let id: String
    package let model: String
    /// Seconds since 1970.
    let created: Int
    let endpoint: Endpoint

    package init(id: String, model: String, created: Int, endpoint: Endpoint) {
        (self.id, self.model, self.created, self.endpoint) = (id, model, created, endpoint)
    }

    /// Returns the whole answer.
    /// - Parameters:
    ///   - results: the choices, in order; at least one.
    ///   - run: digest of the run.
    package func whole(_ results: [GenerationResult], run: String) -> (status: Int, body: [UInt8]) {
        var answer = answer(run: run)
        answer.request = OpenAIRequest(of: results[0])
        return answer.alone(results)
    }

    package static func promptTokens(of results: [GenerationResult]) -> Int {
        let made = results.compactMap(\.made?.completion)
        return made.isEmpty ? 0 : OpenAIAnswer.promptTokens(made, of: OpenAIRequest(of: results[0]))
    }

    func answer(run: String) -> OpenAIAnswer {
        OpenAIAnswer(id: id, model: model, run: run, endpoint: endpoint, created: created, isLine: false)
    }

    // MARK: The events of a stream

    private var isChat: Bool { endpoint == .chat }

    /// Returns an event with more text or reasoning of a choice. The first event of a choice has the role.
    func more(_ text: String, of choice: Int, isReasoning: Bool = false, isFirst: Bool) -> [UInt8] {
        self.choice(choice, text) { writer in
            if isFirst { writer.string("role", "assistant") }
            writer.string(isReasoning ? "reasoning_content" : "content", text)
        } end: { writer in
            for name in ["logprobs", "finish_reason"] { writer.null(name) }
        }
    }

    /// Returns the events that end a choice, with everything not sent yet.
    /// - Parameters:
    ///   - told: number of bytes of its text already sent.
    ///   - isFirst: whether nothing of it was sent.
    func end(
        _ whole: GenerationResult, of choice: Int, told: Int, toldReasoning: Bool, isFirst: Bool
    ) -> [UInt8] {
        guard let result = whole.made, let completion = result.completion else { return [] }
        let rest = String(decoding: completion.text.utf8.dropFirst(told), as: UTF8.self)
        return self.choice(choice, rest) { writer in
            if isFirst { writer.string("role", "assistant") }
            if let reasoning = completion.reasoning, !toldReasoning {
                writer.string("reasoning_content", reasoning)
            }
            if !rest.isEmpty { writer.string("content", rest) }
            if let calls = completion.toolCalls {
                ToolCall.write(calls, to: &writer, areNumbered: true)
            }
        } end: { writer in
            if isChat {
                OpenAIAnswer.writeLogprobs(completion, &writer)
            } else {
                OpenAIAnswer.writeTextLogprobs(completion, of: OpenAIRequest(of: whole), &writer)
            }
            writer.optional("finish_reason", completion.finishReason) {
                $0.string(OpenAIAnswer.name(of: $1))
            }
            result.writeMore(to: &writer)
        }
    }

    /// Returns an event with the usage of all choices.
    func usage(_ results: [GenerationResult]) -> [UInt8] {
        event { writer in
            writer.array("choices") { _ in }
            OpenAIAnswer.writeUsage(
                results.compactMap(\.made?.completion), of: OpenAIRequest(of: results[0]), &writer)
        }
    }

    /// - Parameter delta: writes the delta of a chat; a completion has the text.
    private func choice(
        _ choice: Int, _ text: String, delta: (inout JSONWriter) -> Void, end: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        event { writer in
            writer.objects("choices", [choice]) { writer, choice in
                writer.int("index", choice)
                if isChat { writer.object("delta", delta) } else { writer.string("text", text) }
                end(&writer)
            }
        }
    }

    private func event(_ more: (inout JSONWriter) -> Void) -> [UInt8] {
        let writer = JSONWriter.object { writer in
            writer.string("id", (isChat ? "chatcmpl-" : "cmpl-") + id)
            writer.string("object", isChat ? "chat.completion.chunk" : "text_completion")
            writer.int("created", created)
            writer.string("model", model)
            more(&writer)
        }
        return Self.event(of: writer.bytes)
    }

    /// Returns JSON as a server-sent event.
    static func event(of json: [UInt8]) -> [UInt8] { Array("data: ".utf8) + json + [0x0A, 0x0A] }
}
