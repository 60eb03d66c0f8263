import JSON
import PhiText

/// Results to train a model with: each is a conversation that ends with the answer, in the format of trl, axolotl and
/// OpenAI's fine-tuning.
///
///     {"messages":[{"role":"system","content":"…"},{"role":"user",…},{"role":"assistant","content":"…"}]<kept>}
///
/// In a job with steps it is the conversation of the last step that generates text. Failed lines, and rows that were
/// dropped or skipped that step, are left out.
enum Conversations {
    static let member = "messages"

    /// The conversation up to the answer, with the answer's prefix in the last message.
    static func carried(_ prompt: Prompt) throws(LineError) -> GenerationResult.CarriedValue {
        let (messages, beginning): ([ChatMessage], String)
        switch prompt {
        case .messages(let asked): (messages, beginning) = (asked, "")
        case .continued(let asked, let prefix): (messages, beginning) = (asked, prefix)
        case .text, .tokens:
            throw LineError(
                .badField,
                "`prompt` is no conversation, which results: messages needs; give `messages`.")
        }
        let conversation = JSONWriter.array { writer in
            for message in messages + [ChatMessage(role: "assistant", content: beginning)] {
                writer.object { writer in
                    writer.string("role", message.role)
                    for member in message.members {
                        writer.key(member.name)
                        writer.value(member.value)
                    }
                    writer.string("content", message.content)
                }
            }
        }
        return .init(name: member, json: conversation.text)
    }

    static func problem(with job: JobSettings) -> String? {
        if job.errors != nil { return "leaves failed lines out, and can't have a file of them (errors)" }
        if !job.chat { return "needs conversations, and with chat: false there are none" }
        let answers = job.parts.contains {
            $0.task == .generate && (job.steps.isEmpty || $0.choices == nil)
        }
        if !answers { return "needs answers in text, and the job has none" }
        guard case .fields(let fields) = job.keep, fields.contains(where: { $0.resultName == member })
        else { return nil }
        return "has messages of its own; keep the field under another name"
    }

    /// Nil if there is none.
    private static func conversation(of result: GenerationResult) -> String? {
        guard let made = result.made, made.isAccepted,
            let asked = result.kept.last(where: { $0.name == member })?.json,
            let answer = made.completion
                ?? made.row?.steps.compactMap(\.result.completion).last(where: {
                    $0.probabilities == nil
                })
        else { return nil }
        // Continues the last message's text.
        let text = JSONWriter.text(of: .string(answer.text)).utf8.dropFirst()
        var more = JSONWriter()
        more.object { writer in
            if let reasoning = answer.reasoning { writer.string("reasoning_content", reasoning) }
            if let calls = answer.toolCalls { ToolCall.write(calls, to: &writer) }
        }
        let rest = more.text == "{}" ? "}" : "," + more.text.dropFirst()
        return String(decoding: asked.utf8.dropLast("\"}]".count) + text, as: UTF8.self) + rest + "]"
    }

    static func write(_ result: GenerationResult, to writer: inout JSONWriter) -> Bool {
        guard let conversation = conversation(of: result) else { return false }
        writer.raw(member, conversation)
        for value in result.kept where value.name != member { writer.raw(value.name, value.json) }
        return true
    }
}
