import Foundations
import PhiModel

/// Makes a model's prompt of a line, as the job says.
struct PromptBuilder: Sendable {
    private let system: TextTemplate?
    private let prompt: TextTemplate
    /// The job itself chose the prompt template.
    private let isPromptChosen: Bool
    private let usesChat: Bool

    /// - Throws: `JobError` if a template is malformed.
    init(_ job: JobSettings) throws {
        func template(_ name: String, _ source: String) throws -> TextTemplate {
            do { return try TextTemplate(source, name: "the job's \(name) template") } catch let error
                as ModelError
            {
                throw JobError(.badJob, "\(error)")
            }
        }
        system = try job.system.map { try template("system", $0) }
        prompt = try template("prompt", job.prompt ?? JobSettings.defaultPrompt)
        isPromptChosen = job.prompt != nil && job.prompt != JobSettings.defaultPrompt
        usesChat = job.chat
    }

    /// The fields that the job's templates use.
    var fields: Set<String> { prompt.variables.union(system?.variables ?? []) }

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
            if case .fields = record.content, !isPromptChosen { try checkPrompt(record.fields["prompt"]) }
            let text = try fill(prompt, record)
            guard usesChat else {
                if text.isEmpty { throw LineError(.missingPrompt, "The prompt is empty.") }
                return .text(text)
            }
            return .messages(try withSystem([ChatMessage(role: "user", content: text)], record))
        }
    }

    private func checkPrompt(_ prompt: JSONValue?) throws(LineError) {
        switch prompt {
        case .string: return
        case nil, .null:
            throw LineError(
                .missingPrompt, "The line has no `prompt` (a string or token ids) and no `messages`.")
        case let other?:
            throw LineError(
                .badField, "`prompt` must be a string or a list of token ids, but is \(other.kindName).")
        }
    }

    /// Fields that are null count as missing, so that no "None" gets into a prompt.
    private func fill(_ template: TextTemplate, _ record: PromptRecord) throws(LineError) -> String {
        guard case .object(let members) = record.fields else { return "" }
        let fields = Dictionary(
            members.filter { $0.value != .null }.map { ($0.name, $0.value) },
            uniquingKeysWith: { first, _ in first })
        do {
            return try template.render(fields)
        } catch {
            throw LineError(.templateError, "\(error)")
        }
    }

    /// A template of the job's own decides for lines with messages too, if it can be filled from them.
    private func usesPromptTemplate(_ record: PromptRecord) -> Bool {
        record.fields["prompt"] != nil || prompt.variables.contains("messages")
    }

    /// The job's system message comes first; its text replaces that of one that the line has there.
    private func withSystem(_ messages: [ChatMessage], _ record: PromptRecord) throws(LineError)
        -> [ChatMessage]
    {
        guard let system else { return messages }
        var messages = messages
        if messages.first?.role != "system" {
            messages.insert(ChatMessage(role: "system", content: ""), at: 0)
        }
        messages[0].content = try fill(system, record)
        return messages
    }
}
