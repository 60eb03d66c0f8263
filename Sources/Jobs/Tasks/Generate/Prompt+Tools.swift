import JSON
import PhiText

extension ToolsRule {
    /// Returns the functions to describe to the model; nil if there are none.
    /// - Parameter covered: the line with control tokens escaped.
    static func asked(of record: PromptRecord, covered: PromptRecord?, in job: JobSettings) -> JSONValue? {
        if !job.forms.isEmpty { return job.forms[AnswerKey.tools.name]?.tools?.told }
        guard let rule = record.form?.tools else { return nil }
        return covered?.fields[AnswerKey.tools.name].flatMap { ToolsRule($0) }?.told ?? rule.told
    }
}

extension Prompt {
    /// Returns the prompt with calls and their results in the model's format.
    /// - Parameter functions: the functions described to the model.
    /// - Throws: `LineError` if the prompt can't hold them.
    func written(by tools: ToolText?, asking functions: JSONValue?) throws(LineError) -> Prompt {
        let conversation: [ChatMessage]
        switch self {
        case .messages(let messages), .continued(let messages, _): conversation = messages
        case .text, .tokens:
            if functions == nil { return self }
            throw LineError(.badField, "`tools` need a conversation; give `messages`.")
        }
        let hasCalls = conversation.contains { message in
            message.role == "tool" || message.members.contains { $0.name == "tool_calls" }
        }
        guard hasCalls || functions != nil else { return self }
        guard let tools else {
            throw LineError(.badField, "`tools` need a tokenizer, and the model folder has none.")
        }
        var messages = tools.written(conversation)
        if let functions { messages = tools.asking(messages, functions: functions) }
        if case .continued(_, let prefix) = self { return .continued(messages, prefix: prefix) }
        return .messages(messages)
    }
}
