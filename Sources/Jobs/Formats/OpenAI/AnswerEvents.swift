import JSON

/// Events of a streamed answer, each as a server-sent event. A chat or a completion ends each choice, then the stream.
/// A response opens, sends and closes each item in turn, then sends itself as a whole.
package struct AnswerEvents: Sendable {
    private let answer: OpenAIAnswer
    private let tellsUsage: Bool
    /// Amount sent of each choice.
    private var told: [Int: (bytes: Int, reasoning: Bool)] = [:]
    /// Number of a response's events so far.
    private var count = 0
    /// Number of a response's closed items.
    private var closed = 0

    /// - Parameter tellsUsage: whether the last event of a chat or a completion has the usage.
    package init(of answer: OpenAIAnswer, tellsUsage: Bool) {
        (self.answer, self.tellsUsage) = (answer, tellsUsage)
    }

    package var haveBegun: Bool { !told.isEmpty }

    /// Returns more text of a choice, or its reasoning, which comes in one piece.
    /// - Parameter text: not empty if it is no reasoning.
    package mutating func more(_ text: String, of choice: Int, isReasoning: Bool) -> [UInt8] {
        let before = told[choice]
        var now = before ?? (0, false)
        if isReasoning { now.reasoning = true } else { now.bytes += text.utf8.count }
        told[choice] = now
        if answer.endpoint == .responses {
            let start = before == nil ? begin() : []
            if isReasoning { return start + whole(.reasoning(text, answer.id)) }
            let item = ResponseItem.message(answer.id)
            return start + (now.bytes == text.utf8.count ? open(item) : []) + delta(text, of: item)
        }
        let part = OpenAIAnswer.ChoicePart(
            index: choice, text: isReasoning ? "" : text, reasoning: isReasoning ? text : nil,
            isFirst: before == nil)
        return event { answer.write([part], isEvent: true, to: &$0) }
    }

    /// Returns the remaining events, once all choices are complete.
    /// - Parameters:
    ///   - results: the choices, none of which has failed.
    ///   - run: digest of the run.
    package mutating func end(_ results: [GenerationResult], run: String) -> [UInt8] {
        if answer.endpoint == .responses { return end(results[0], run: run) }
        let request = OpenAIRequest(of: results[0])
        var bytes: [UInt8] = []
        for (index, choice) in results.enumerated() {
            let before = told[index]
            let part = OpenAIAnswer.ChoicePart(
                index: index,
                text: String(decoding: (choice.text ?? "").utf8.dropFirst(before?.bytes ?? 0), as: UTF8.self),
                reasoning: before?.reasoning == true ? nil : choice.reasoning, isFirst: before == nil,
                end: choice)
            bytes += event { answer.write([part], of: request, isEvent: true, to: &$0) }
        }
        if tellsUsage {
            bytes += event { answer.write([], of: request, isEvent: true, usage: results, to: &$0) }
        }
        return bytes + Self.event(of: Array("[DONE]".utf8))
    }

    /// Returns an error in the middle of the stream.
    /// - Parameter body: of an error answer.
    package mutating func failure(_ body: [UInt8]) -> [UInt8] {
        guard answer.endpoint == .responses else { return Self.event(of: body) }
        let error = (try? JSONValue(parsing: body, limits: .line))?["error"]
        return event("error") { writer in
            for name in ["code", "message", "param"] {
                writer.key(name)
                writer.value(error?[name] ?? .null)
            }
        }
    }

    private func event(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        Self.event(of: JSONWriter.object(body).bytes)
    }

    private static func event(of json: [UInt8]) -> [UInt8] { Array("data: ".utf8) + json + [0x0A, 0x0A] }

    // MARK: Events of a response

    private mutating func begin() -> [UInt8] {
        var bytes: [UInt8] = []
        for name in ["response.created", "response.in_progress"] {
            bytes += event(name) { [answer] in
                $0.object("response") { answer.writeResponse(nil, to: &$0) }
            }
        }
        return bytes
    }

    private mutating func end(_ completion: GenerationResult, run: String) -> [UInt8] {
        var bytes = haveBegun ? [] : begin()
        for item in ResponseItem.all(of: completion, answer.id).dropFirst(closed) {
            bytes += whole(item, after: item.isMessage ? told[0]?.bytes ?? 0 : 0)
        }
        let isCut = completion.finishReason?.isLimit == true
        let body = answer.whole([completion], run: run).body
        return bytes
            + event(isCut ? "response.incomplete" : "response.completed") { writer in
                writer.raw("response", String(decoding: body, as: UTF8.self))
            }
    }

    /// Returns the events of an item.
    /// - Parameter told: bytes of its text already sent.
    private mutating func whole(_ item: ResponseItem, after told: Int = 0) -> [UInt8] {
        var bytes = told == 0 ? open(item) : []
        let rest = item.text.utf8.dropFirst(told)
        if !rest.isEmpty { bytes += delta(String(decoding: rest, as: UTF8.self), of: item) }
        return bytes + close(item)
    }

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
        defer { count += 1 }
        return Array("event: \(name)\n".utf8)
            + event { writer in
                writer.string("type", name)
                more(&writer)
                writer.int("sequence_number", count)
            }
    }
}
