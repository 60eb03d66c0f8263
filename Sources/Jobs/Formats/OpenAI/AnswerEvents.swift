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
        guard answer.endpoint == .responses else {
            let (shown, reasoning) = isReasoning ? ("", text) : (text, nil)
            return Self.event {
                answer.write([(choice, shown, reasoning, before == nil, nil)], isEvent: true, to: &$0)
            }
        }
        let start = before == nil ? begin() : []
        if isReasoning { return start + whole(.reasoning(text, answer.id)) }
        let item = ResponseItem.message(answer.id)
        return start + (now.bytes == text.utf8.count ? open(item) : []) + delta(text, of: item)
    }

    /// Returns the remaining events, once all choices are complete.
    /// - Parameters:
    ///   - results: the choices, none of which has failed.
    ///   - run: digest of the run.
    package mutating func end(_ results: [GenerationResult], run: String) -> [UInt8] {
        guard answer.endpoint != .responses else {
            var bytes = haveBegun ? [] : begin()
            for item in ResponseItem.all(of: results[0], answer.id).dropFirst(closed) {
                bytes += whole(item, after: item.isMessage ? told[0]?.bytes ?? 0 : 0)
            }
            let isCut = results[0].finishReason?.isLimit == true
            let body = answer.whole(results, run: run).body
            return bytes
                + event(isCut ? "response.incomplete" : "response.completed") {
                    $0.raw("response", String(decoding: body, as: UTF8.self))
                }
        }
        let request = OpenAIRequest(of: results[0])
        var bytes: [UInt8] = []
        for (index, choice) in results.enumerated() {
            let before = told[index]
            let rest = String(decoding: (choice.text ?? "").utf8.dropFirst(before?.bytes ?? 0), as: UTF8.self)
            let reasoning = before?.reasoning == true ? nil : choice.reasoning
            bytes += Self.event {
                let part = (index, rest, reasoning, before == nil, choice)
                answer.write([part], of: request, isEvent: true, to: &$0)
            }
        }
        if tellsUsage {
            bytes += Self.event {
                answer.write([], of: request, isEvent: true, usage: results, to: &$0)
            }
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

    private static func event(of json: [UInt8]) -> [UInt8] { Array("data: ".utf8) + json + [0x0A, 0x0A] }

    private static func event(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        event(of: JSONWriter.object(body).bytes)
    }

    // MARK: Events of a response

    private mutating func begin() -> [UInt8] {
        ["response.created", "response.in_progress"].reduce([]) { bytes, name in
            bytes + event(name) { [answer] in $0.object("response") { answer.writeResponse(nil, to: &$0) } }
        }
    }

    /// Returns the events of an item.
    /// - Parameter told: bytes of its text already sent.
    private mutating func whole(_ item: ResponseItem, after told: Int = 0) -> [UInt8] {
        let rest = String(decoding: item.text.utf8.dropFirst(told), as: UTF8.self)
        var bytes = (told == 0 ? open(item) : []) + (rest.isEmpty ? [] : delta(rest, of: item))
        bytes += event("response.\(item.stem).done", item) { item.writeText(to: &$0) }
        if item.hasPart {
            bytes += event("response.content_part.done", item) { writer in
                writer.object("part") { item.writePart(to: &$0, text: item.text) }
            }
        }
        bytes += event("response.output_item.done", item, isOfPart: false) { writer in
            writer.object("item") { item.write(to: &$0, isDone: true) }
        }
        closed += 1
        return bytes
    }

    private mutating func open(_ item: ResponseItem) -> [UInt8] {
        let bytes = event("response.output_item.added", item, isOfPart: false) { writer in
            writer.object("item") { item.write(to: &$0, isDone: false) }
        }
        guard item.hasPart else { return bytes }
        return bytes
            + event("response.content_part.added", item) { writer in
                writer.object("part") { item.writePart(to: &$0, text: "") }
            }
    }

    private mutating func delta(_ text: String, of item: ResponseItem) -> [UInt8] {
        event("response.\(item.stem).delta", item) { writer in
            writer.string("delta", text)
            if item.isMessage { writer.array("logprobs") { _ in } }
        }
    }

    /// - Parameter isOfPart: whether it is about the item's text, and not the item itself.
    private mutating func event(
        _ name: String, _ item: ResponseItem? = nil, isOfPart: Bool = true,
        _ more: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        defer { count += 1 }
        return Array("event: \(name)\n".utf8)
            + Self.event { [closed, count] writer in
                writer.string("type", name)
                if item != nil { writer.int("output_index", closed) }
                if let item, isOfPart {
                    writer.string("item_id", item.id)
                    if item.hasPart { writer.int("content_index", 0) }
                }
                more(&writer)
                writer.int("sequence_number", count)
            }
    }
}
