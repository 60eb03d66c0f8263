import JSON

/// An item of a response's output: reasoning, the answer, or a call.
struct ResponseItem {
    private enum Content {
        case reasoning
        /// - Parameter of: nil before it has any text.
        case message(of: GenerationResult?)
        case call(JSONValue)
    }

    let id: String
    /// The reasoning, the answer, or a call's arguments.
    let text: String
    private let content: Content

    /// - Parameter id: the response's, without its prefix.
    static func reasoning(_ text: String, _ id: String) -> Self {
        Self(id: "rs_\(id)", text: text, content: .reasoning)
    }

    /// An item without content yet.
    static func message(_ id: String) -> Self {
        Self(id: "msg_\(id)", text: "", content: .message(of: nil))
    }

    static func all(of completion: GenerationResult, _ id: String) -> [Self] {
        let message = Self(
            id: "msg_\(id)", text: completion.text ?? "", content: .message(of: completion))
        let calls = (completion.own["tool_calls"]?.elements ?? []).enumerated().map { number, call in
            Self(
                id: "fc_\(id)_\(number)", text: call["function"]?.string("arguments") ?? "",
                content: .call(call))
        }
        // The completion's other members are in the message.
        let isOfCalls =
            message.text.isEmpty && !calls.isEmpty && completion.own["tokens"] == nil
            && completion.logprobs == nil
        return (completion.reasoning.map { [.reasoning($0, id)] } ?? []) + (isOfCalls ? [] : [message])
            + calls
    }

    var isMessage: Bool { if case .message = content { true } else { false } }
    /// Whether its text is in a part of it.
    var hasPart: Bool { if case .call = content { false } else { true } }

    /// Prefix of the names of the text's events.
    var stem: String {
        switch content {
        case .reasoning: "reasoning_text"
        case .message: "output_text"
        case .call: "function_call_arguments"
        }
    }

    /// - Parameter isDone: false if the text is still to come.
    func write(to writer: inout JSONWriter, isDone: Bool) {
        switch content {
        case .reasoning:
            writer.string("type", "reasoning")
            writer.string("id", id)
            writer.array("summary") { _ in }
        case .message(let completion):
            let isCut = completion?.finishReason?.isLimit == true
            writer.string("type", "message")
            writer.string("id", id)
            writer.string("status", isDone ? isCut ? "incomplete" : "completed" : "in_progress")
            writer.string("role", "assistant")
        case .call(let call):
            writer.string("type", "function_call")
            writer.string("id", id)
            writer.value("call_id", call["id"] ?? .null)
            writer.value("name", call["function"]?["name"] ?? .null)
            writer.string("arguments", isDone ? text : "")
            writer.string("status", isDone ? "completed" : "in_progress")
        }
        guard hasPart else { return }
        writer.array("content") { writer in
            if isDone { writer.object { writePart(to: &$0, text: text) } }
        }
    }

    func writePart(to writer: inout JSONWriter, text: String) {
        writer.string("type", stem)
        writer.string("text", text)
        guard case .message(let completion) = content else { return }
        writer.array("annotations") { _ in }
        write(text.isEmpty ? [] : completion?.logprobs ?? [], &writer)
        if !text.isEmpty || self.text.isEmpty, let probabilities = completion?.own["probabilities"] {
            writer.value("probabilities", probabilities)
        }
    }

    /// Writes the members of the event that ends the text.
    func writeText(to writer: inout JSONWriter) {
        if case .call(let call) = content {
            writer.value("name", call["function"]?["name"] ?? .null)
            writer.string("arguments", text)
            return
        }
        writer.string("text", text)
        if case .message(let completion) = content { write(completion?.logprobs ?? [], &writer) }
    }

    private func write(_ logprobs: [JSONValue], _ writer: inout JSONWriter) {
        writer.value("logprobs", .array(logprobs))
    }
}
