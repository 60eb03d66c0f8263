import JSON

/// An item of a response's output: reasoning, the answer, or a call.
struct ResponseItem {
    let id: String
    /// Prefix of the names of the text's events.
    let stem: String
    /// The reasoning, the answer, or a call's arguments.
    var text = ""
    /// The answer's; nil before it has any text, and for other items.
    private var completion: GenerationResult?
    private var call: JSONValue?

    private init(_ id: String, _ stem: String) { (self.id, self.stem) = (id, stem) }

    /// - Parameter id: the response's, without its prefix.
    static func reasoning(_ text: String, _ id: String) -> Self {
        var item = Self("rs_\(id)", "reasoning_text")
        item.text = text
        return item
    }

    /// - Parameter completion: nil before it has any text.
    static func message(_ id: String, of completion: GenerationResult? = nil) -> Self {
        var item = Self("msg_\(id)", "output_text")
        (item.text, item.completion) = (completion?.text ?? "", completion)
        return item
    }

    static func all(of completion: GenerationResult, _ id: String) -> [Self] {
        let message = Self.message(id, of: completion)
        let calls = (completion.own["tool_calls"]?.elements ?? []).enumerated().map { number, call in
            var item = Self("fc_\(id)_\(number)", "function_call_arguments")
            (item.text, item.call) = (call["function"]?.string("arguments") ?? "", call)
            return item
        }
        // The completion's other members are in the message.
        let isOfCalls =
            message.text.isEmpty && !calls.isEmpty && completion.own["tokens"] == nil
            && completion.logprobs == nil
        return (completion.reasoning.map { [.reasoning($0, id)] } ?? []) + (isOfCalls ? [] : [message])
            + calls
    }

    var isMessage: Bool { stem == "output_text" }
    /// Whether its text is in a part of it.
    var hasPart: Bool { call == nil }

    /// - Parameter isDone: false if the text is still to come.
    func write(to writer: inout JSONWriter, isDone: Bool) {
        let isCut = completion?.finishReason?.isLimit == true
        let status = isDone ? isCut ? "incomplete" : "completed" : "in_progress"
        writer.string("type", call != nil ? "function_call" : isMessage ? "message" : "reasoning")
        writer.string("id", id)
        if let call {
            writer.value("call_id", call["id"] ?? .null)
            writer.value("name", call["function"]?["name"] ?? .null)
            writer.string("arguments", isDone ? text : "")
            writer.string("status", status)
            return
        }
        if isMessage {
            writer.string("status", status)
            writer.string("role", "assistant")
        } else {
            writer.array("summary") { _ in }
        }
        writer.array("content") { writer in
            if isDone { writer.object { writePart(to: &$0, text: text) } }
        }
    }

    func writePart(to writer: inout JSONWriter, text: String) {
        writer.string("type", stem)
        writer.string("text", text)
        guard isMessage else { return }
        writer.array("annotations") { _ in }
        writer.value("logprobs", .array(text.isEmpty ? [] : completion?.logprobs ?? []))
        if !text.isEmpty || self.text.isEmpty, let probabilities = completion?.own["probabilities"] {
            writer.value("probabilities", probabilities)
        }
    }

    /// Writes the members of the event that ends the text.
    func writeText(to writer: inout JSONWriter) {
        if let call { writer.value("name", call["function"]?["name"] ?? .null) }
        writer.string(call == nil ? "text" : "arguments", text)
        if isMessage { writer.value("logprobs", .array(completion?.logprobs ?? [])) }
    }
}
