import PhiModel

/// Makes a model's prompt of a line, as the job says.
struct PromptBuilder: Sendable {
    private let system: JobTemplate?
    private let prompt: JobTemplate
    /// The job itself chose the prompt template.
    private let isPromptChosen: Bool
    private let usesChat: Bool

    /// - Throws: `JobError` if a template is malformed.
    init(_ job: JobSettings) throws {
        func template(_ name: String, _ source: String) throws -> JobTemplate {
            do { return try JobTemplate(source) } catch {
                throw JobError(.badJob, "the job's \(name) template \(error.message).")
            }
        }
        system = try job.system.map { try template("system", $0) }
        prompt = try template("prompt", job.prompt ?? JobSettings.defaultPrompt)
        isPromptChosen = job.prompt != nil && job.prompt != JobSettings.defaultPrompt
        usesChat = job.chat
    }

    /// - Throws: `LineError` if the line lacks what the job's templates need.
    func prompt(for record: PromptRecord) throws(LineError) -> Prompt {
        switch record.content {
        case .tokens(let ids):
            if ids.isEmpty { throw LineError(.missingPrompt, "`prompt` is an empty list.") }
            return .tokens(ids)
        case .messages(let messages) where !(isPromptChosen && usesPromptTemplate(record)):
            if record.fields["prompt"] != nil {
                throw LineError(
                    .badField,
                    "The line has both `prompt` and `messages`; keep one, or choose with the job's prompt template."
                )
            }
            guard usesChat else {
                throw LineError(.badField, "`messages` need a chat template, but the job says chat: false.")
            }
            return .messages(try withSystem(messages, record))
        case .messages, .fields:
            if case .fields = record.content, let value = record.fields["prompt"],
                prompt.names.contains("prompt")
            {
                guard case .string = value else {
                    throw LineError(
                        value == .null ? .missingPrompt : .badField,
                        "`prompt` must be a string or a list of token ids, but is \(value.kindName).")
                }
            }
            let text = try prompt.render(record.fields)
            guard usesChat else {
                if text.isEmpty { throw LineError(.missingPrompt, "The prompt is empty.") }
                return .text(text)
            }
            return .messages(try withSystem([ChatMessage(role: "user", content: text)], record))
        }
    }

    /// A template of the job's own decides for lines with messages too, if it can be filled from them.
    private func usesPromptTemplate(_ record: PromptRecord) -> Bool {
        record.fields["prompt"] != nil || prompt.names.contains("messages")
    }

    /// The job's system message comes first, and replaces one that the line has there.
    private func withSystem(_ messages: [ChatMessage], _ record: PromptRecord) throws(LineError)
        -> [ChatMessage]
    {
        guard let system else { return messages }
        let own = ChatMessage(role: "system", content: try system.render(record.fields))
        return [own] + (messages.first?.role == "system" ? messages.dropFirst() : messages[...])
    }
}
