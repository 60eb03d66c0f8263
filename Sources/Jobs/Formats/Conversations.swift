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
    static func carried(_ prompt: Prompt) throws(LineError) -> JSONValue {
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
        return .array(begun.map { .object($0.json) })
    }

    /// Writes the conversation and the line's kept values; returns false if there is none.
    func writeConversation(to writer: inout JSONWriter) -> Bool {
        let steps = steps?.map { GenerationResult(step: $0.value) }
        guard isAccepted, var messages = kept[Self.conversation]?.elements,
            case .object(var last)? = messages.popLast(), case .string(let beginning)? = last["content"],
            let answer = steps?.last(where: { $0.text != nil && $0.own["probabilities"] == nil })
                ?? (steps == nil ? self : nil), let text = answer.text
        else { return false }
        last["content"] = .string(beginning + text)
        last["reasoning_content"] = answer.own["reasoning"]
        last["tool_calls"] = answer.own["tool_calls"]
        writer.value(Self.conversation, .array(messages + [.object(last)]))
        writer.members(kept.filter { $0.name != Self.conversation })
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
