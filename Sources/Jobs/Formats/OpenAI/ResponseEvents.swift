import JSON

/// Events of a response: each item is opened, sent and closed in turn, then the whole response.
struct ResponseEvents: AnswerEvents {
    private let answer: OpenAIAnswer
    /// Number of events so far.
    private var count = 0
    /// Number of closed items.
    private var closed = 0
    /// Text of the open message; nil before it.
    private var told: String?

    init(of answer: OpenAIAnswer) { self.answer = answer }

    mutating func more(_ text: String, of choice: Int, isReasoning: Bool) -> [UInt8] {
        var bytes = begin()
        if isReasoning {
            let item = ResponseItem.reasoning(text, answer.id)
            return bytes + open(item) + delta(text, of: item) + close(item)
        }
        let item = ResponseItem.message(answer.id)
        if told == nil { bytes += open(item) }
        told = (told ?? "") + text
        return bytes + delta(text, of: item)
    }

    mutating func end(_ results: [GenerationResult], run: String) -> [UInt8] {
        var bytes = begin()
        guard let completion = results.first?.made?.completion else { return bytes }
        for item in ResponseItem.all(of: completion, answer.id).dropFirst(closed) {
            let isOpen = item.isMessage && told != nil
            if !isOpen { bytes += open(item) }
            let rest = isOpen ? item.text.utf8.dropFirst(told?.utf8.count ?? 0) : item.text.utf8[...]
            if !rest.isEmpty { bytes += delta(String(decoding: rest, as: UTF8.self), of: item) }
            bytes += close(item)
        }
        let whole = answer.whole([GenerationResult(completion)], run: run).body
        let isCut = completion.finishReason?.isLimit == true
        return bytes
            + event(isCut ? "response.incomplete" : "response.completed") { writer in
                writer.raw("response", String(decoding: whole, as: UTF8.self))
            }
    }

    mutating func failure(_ error: JSONValue) -> [UInt8] {
        event("error") { writer in
            for name in ["code", "message", "param"] {
                writer.key(name)
                writer.value(error["error"]?[name] ?? .null)
            }
        }
    }

    private mutating func begin() -> [UInt8] {
        guard count == 0 else { return [] }
        var bytes: [UInt8] = []
        for name in ["response.created", "response.in_progress"] {
            bytes += event(name) { [answer] in
                $0.object("response") { answer.writeBegun(to: &$0) }
            }
        }
        return bytes
    }

    // MARK: Items

    private mutating func open(_ item: ResponseItem) -> [UInt8] {
        var bytes = event("response.output_item.added", nil) { writer in
            writer.object("item") { item.write(to: &$0, isDone: false) }
        }
        if item.hasPart {
            bytes += event("response.content_part.added", item) { writer in
                writer.object("part") { item.writePart(to: &$0, text: "") }
            }
        }
        return bytes
    }

    private mutating func delta(_ text: String, of item: ResponseItem) -> [UInt8] {
        event("response.\(item.stem).delta", item) { writer in
            writer.string("delta", text)
            if item.isMessage { writer.array("logprobs") { _ in } }
        }
    }

    private mutating func close(_ item: ResponseItem) -> [UInt8] {
        var bytes = event("response.\(item.stem).done", item) { item.writeText(to: &$0) }
        if item.hasPart {
            bytes += event("response.content_part.done", item) { writer in
                writer.object("part") { item.writePart(to: &$0, text: item.text) }
            }
        }
        bytes += event("response.output_item.done", nil) { writer in
            writer.object("item") { item.write(to: &$0, isDone: true) }
        }
        closed += 1
        return bytes
    }

    /// - Parameter item: the item of a part's event; nil for the item's own.
    private mutating func event(
        _ name: String, _ item: ResponseItem?, _ more: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        let place = closed
        return event(name) { writer in
            writer.int("output_index", place)
            if let item { writer.string("item_id", item.id) }
            if item?.hasPart == true { writer.int("content_index", 0) }
            more(&writer)
        }
    }

    private mutating func event(_ name: String, _ more: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.string("type", name)
            more(&writer)
            writer.int("sequence_number", count)
        }
        count += 1
        return Array("event: \(name)\n".utf8) + OpenAIAnswer.event(of: writer.bytes)
    }
}

/// Events of a streamed answer, each as a server-sent event.
package protocol AnswerEvents: Sendable {
    /// Returns more text of a choice, or its reasoning, which comes in one piece.
    mutating func more(_ text: String, of choice: Int, isReasoning: Bool) -> [UInt8]
    /// Returns the remaining events, once all choices are complete.
    /// - Parameter run: digest of the run.
    mutating func end(_ results: [GenerationResult], run: String) -> [UInt8]
    /// Returns an error in the middle of the stream.
    /// - Parameter error: body of an error answer.
    mutating func failure(_ error: JSONValue) -> [UInt8]
}

extension OpenAIAnswer {
    /// - Parameter tellsUsage: whether the last event of a chat or a completion has the usage.
    package func events(tellsUsage: Bool) -> any AnswerEvents {
        endpoint == .responses ? ResponseEvents(of: self) : ChoiceEvents(of: self, tellsUsage: tellsUsage)
    }

    /// Returns JSON as a server-sent event.
    static func event(of json: [UInt8]) -> [UInt8] { Array("data: ".utf8) + json + [0x0A, 0x0A] }
}

/// Events of a chat or a completion.
private struct ChoiceEvents: AnswerEvents {
    private let answer: OpenAIAnswer
    private let tellsUsage: Bool
    /// Amount sent of each choice.
    private var told: [Int: (bytes: Int, reasoning: Bool)] = [:]

    init(of answer: OpenAIAnswer, tellsUsage: Bool) {
        (self.answer, self.tellsUsage) = (answer, tellsUsage)
    }

    private var isChat: Bool { answer.endpoint == .chat }

    mutating func more(_ text: String, of choice: Int, isReasoning: Bool) -> [UInt8] {
        let known = told[choice]
        told[choice] = (
            (known?.bytes ?? 0) + (isReasoning ? 0 : text.utf8.count),
            known?.reasoning ?? false || isReasoning
        )
        return event(of: choice, text, isFirst: known == nil) { writer in
            writer.string(isReasoning ? "reasoning_content" : "content", text)
        } end: { writer in
            for name in ["logprobs", "finish_reason"] { writer.null(name) }
        }
    }

    mutating func end(_ results: [GenerationResult], run: String) -> [UInt8] {
        var bytes = results.enumerated().flatMap { end($1, of: $0) }
        if tellsUsage {
            bytes += event { writer in
                writer.array("choices") { _ in }
                OpenAIAnswer.writeUsage(
                    results.compactMap(\.made?.completion), of: OpenAIRequest(of: results[0]), &writer)
            }
        }
        return bytes + OpenAIAnswer.event(of: Array("[DONE]".utf8))
    }

    /// Returns the event that ends a choice, with everything not sent yet.
    private func end(_ whole: GenerationResult, of choice: Int) -> [UInt8] {
        guard let completion = whole.made?.completion else { return [] }
        let told = told[choice]
        let rest = String(decoding: completion.text.utf8.dropFirst(told?.bytes ?? 0), as: UTF8.self)
        return event(of: choice, rest, isFirst: told == nil) { writer in
            if let reasoning = completion.reasoning, told?.reasoning != true {
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
            completion.writeProbabilities(to: &writer)
        }
    }

    mutating func failure(_ error: JSONValue) -> [UInt8] {
        OpenAIAnswer.event(of: Array(JSONWriter.text(of: error).utf8))
    }

    /// - Parameter delta: writes the delta of a chat, whose first has the role; a completion has the text.
    private func event(
        of choice: Int, _ text: String, isFirst: Bool, delta: (inout JSONWriter) -> Void,
        end: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        event { writer in
            writer.objects("choices", [choice]) { writer, choice in
                writer.int("index", choice)
                if isChat {
                    writer.object("delta") { writer in
                        if isFirst { writer.string("role", "assistant") }
                        delta(&writer)
                    }
                } else {
                    writer.string("text", text)
                }
                end(&writer)
            }
        }
    }

    private func event(_ more: (inout JSONWriter) -> Void) -> [UInt8] {
        let writer = JSONWriter.object { writer in
            let (prefix, kind) = isChat ? ("chatcmpl", "chat.completion.chunk") : ("cmpl", "text_completion")
            answer.writeHead(prefix, kind, &writer)
            more(&writer)
        }
        return OpenAIAnswer.event(of: writer.bytes)
    }
}
