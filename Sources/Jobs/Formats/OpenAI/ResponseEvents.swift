import JSON

/// Events of a response: each item is opened, sent and closed in turn, then the whole response.
struct ResponseEvents: AnswerEvents {
    private let reply: OpenAIReply
    /// Number of events so far.
    private var count = 0
    /// Number of closed items.
    private var closed = 0
    /// Text of the open message; nil before it.
    private var told: String?

    init(of reply: OpenAIReply) { self.reply = reply }

    mutating func more(_ text: String, of choice: Int, isReasoning: Bool) -> [UInt8] {
        var bytes = begin()
        if isReasoning {
            let item = ResponseItem.reasoning(text, reply.id)
            return bytes + open(item) + delta(text, of: item) + close(item)
        }
        let item = ResponseItem.message(reply.id)
        if told == nil { bytes += open(item) }
        told = (told ?? "") + text
        return bytes + delta(text, of: item)
    }

    mutating func end(_ results: [GenerationResult], run: String) -> [UInt8] {
        var bytes = begin()
        guard let result = results.first?.made, let completion = result.completion else { return bytes }
        for item in ResponseItem.all(of: completion, result, reply.id).dropFirst(closed) {
            let isOpen = item.isMessage && told != nil
            if !isOpen { bytes += open(item) }
            let rest = isOpen ? item.text.utf8.dropFirst(told?.utf8.count ?? 0) : item.text.utf8[...]
            if !rest.isEmpty { bytes += delta(String(decoding: rest, as: UTF8.self), of: item) }
            bytes += close(item)
        }
        let whole = reply.answer(run: run).alone([GenerationResult(result)]).body
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
            bytes += event(name) { [reply] in
                $0.object("response") { reply.answer(run: "").writeBegun(to: &$0) }
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
        return Array("event: \(name)\n".utf8) + OpenAIReply.event(of: writer.bytes)
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

extension OpenAIReply {
    /// - Parameter tellsUsage: whether the last event of a chat or a completion has the usage.
    package func events(tellsUsage: Bool) -> any AnswerEvents {
        endpoint == .responses ? ResponseEvents(of: self) : ChoiceEvents(of: self, tellsUsage: tellsUsage)
    }
}

/// Events of a chat or a completion.
private struct ChoiceEvents: AnswerEvents {
    private let reply: OpenAIReply
    private let tellsUsage: Bool
    /// Amount sent of each choice.
    private var told: [Int: (bytes: Int, reasoning: Bool)] = [:]

    init(of reply: OpenAIReply, tellsUsage: Bool) { (self.reply, self.tellsUsage) = (reply, tellsUsage) }

    mutating func more(_ text: String, of choice: Int, isReasoning: Bool) -> [UInt8] {
        let known = told[choice]
        told[choice] = (
            (known?.bytes ?? 0) + (isReasoning ? 0 : text.utf8.count),
            known?.reasoning ?? false || isReasoning
        )
        return reply.more(text, of: choice, isReasoning: isReasoning, isFirst: known == nil)
    }

    mutating func end(_ results: [GenerationResult], run: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for (choice, result) in results.enumerated() {
            let told = told[choice]
            bytes += reply.end(
                result, of: choice, told: told?.bytes ?? 0, toldReasoning: told?.reasoning ?? false,
                isFirst: told == nil)
        }
        if tellsUsage { bytes += reply.usage(results) }
        return bytes + OpenAIReply.event(of: Array("[DONE]".utf8))
    }

    mutating func failure(_ error: JSONValue) -> [UInt8] {
        OpenAIReply.event(of: Array(JSONWriter.text(of: error).utf8))
    }
}
