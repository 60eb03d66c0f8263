import JSON
import PhiText

/// Results to train a model with: each is a conversation that ends with the answer, in the format of trl, axolotl and
/// OpenAI's fine-tuning.
///
///     {"messages":[{"role":"system","content":"…"},{"role":"user",…},{"role":"assistant","content":"…"}]<kept>}
///
/// In a job with steps it is the conversation of the last step that generates text. Failed lines, and rows that were
/// dropped or skipped that step, are left out.
extension GenerationResult {
    static let conversation = "messages"

    /// The conversation up to the answer, with the answer's prefix in the last message.
    static func carried(_ prompt: Prompt) throws(LineError) -> CarriedValue {
        let (messages, beginning): ([ChatMessage], String)
        switch prompt {
        case .messages(let asked): (messages, beginning) = (asked, "")
        case .continued(let asked, let prefix): (messages, beginning) = (asked, prefix)
        case .text, .tokens:
            throw LineError(
                .badField,
                "`prompt` is no conversation, which results: messages needs; give `messages`.")
        }
        let begun = messages + [ChatMessage(role: "assistant", content: beginning)]
        let json = JSONWriter.array { writer in
            for message in begun { writer.object { message.write(to: &$0) } }
        }
        return .init(name: conversation, json: json.text)
    }

    /// Writes the conversation and the line's kept values; returns false if there is none.
    func writeConversation(to writer: inout JSONWriter) -> Bool {
        guard let made, made.isAccepted, let asked = kept.last(where: { $0.name == Self.conversation })?.json,
            let answer = made.completion
                ?? made.row?.steps.compactMap(\.result.completion).last(where: {
                    $0.probabilities == nil
                })
        else { return false }
        // Continues the last message's text.
        let text = JSONWriter.text(of: .string(answer.text)).utf8.dropFirst()
        var more = JSONWriter()
        more.object { writer in
            if let reasoning = answer.reasoning { writer.string("reasoning_content", reasoning) }
            if let calls = answer.toolCalls { ToolCall.write(calls, to: &writer) }
        }
        let rest = more.text == "{}" ? "}" : "," + more.text.dropFirst()
        let begun = String(decoding: asked.utf8.dropLast("\"}]".count) + text, as: UTF8.self)
        writer.raw(Self.conversation, begun + rest + "]")
        for value in kept where value.name != Self.conversation { writer.raw(value.name, value.json) }
        return true
    }
}

extension JobSettings {
    /// The reason why its results can't be conversations; nil if they can.
    var conversationProblem: String? {
        if errors != nil { return "leaves failed lines out, and can't have a file of them (errors)" }
        if !chat { return "needs conversations, and with chat: false there are none" }
        let answers = parts.contains { $0.task == .generate && (steps.isEmpty || $0.choices == nil) }
        if !answers { return "needs answers in text, and the job has none" }
        guard case .fields(let fields) = keep,
            fields.contains(where: { $0.resultName == GenerationResult.conversation })
        else { return nil }
        return "has messages of its own; keep the field under another name"
    }
}
