import JSON
import PhiText

/// Builds a model's prompt from a line, by the job's templates.
package struct PromptBuilder: Sendable {
    private let job: JobSettings
    private let system: TextTemplate?
    private let messages: [(role: String, content: TextTemplate)]
    private let prompt: TextTemplate
    private let prefix: TextTemplate?

    /// - Throws: `UserError` if a template is malformed.
    package init(_ job: JobSettings) throws {
        self.job = job
        system = try job.system.map { try TextTemplate("system", $0) }
        messages = try job.messages.enumerated().map { index, message in
            (message.role, try TextTemplate("messages[\(index)]", message.content))
        }
        prompt = try TextTemplate("prompt", job.prompt ?? JobSettings.defaultPrompt)
        prefix = try job.prefix.map { try TextTemplate("prefix", $0) }
    }

    /// Whether the job gives the prompt template.
    private var isPromptChosen: Bool { job.prompt != nil }

    /// Whether that renders a request's messages as one text.
    private var templateTakesMessages: Bool { isPromptChosen && prompt.variables.contains("messages") }

    /// Whether a text may stand alone, as no answer is generated.
    private var mayBeEmpty: Bool { !job.task.answers && !job.chat }

    /// Whether the job's messages end with the question, so that the line needs none.
    private var asksByItself: Bool { !isPromptChosen && messages.last?.role == "user" }

    /// The job's templates, by their keys.
    var templates: [(key: String, template: TextTemplate)] {
        let all: [(key: String, template: TextTemplate?)] =
            [("system", system), ("prefix", prefix)]
            + messages.enumerated().map { ("messages[\($0)]", $1.content) }
            + [("prompt", asksByItself ? nil : prompt)]
        return all.compactMap { key, template in template.map { (key, $0) } }
    }

    /// Fields that the job's templates use.
    var fields: Set<String> { templates.reduce(into: []) { $0.formUnion($1.template.variables) } }

    /// - Throws: `LineError` if the line lacks a field that the job's templates need.
    package func prompt(for record: PromptRecord) throws(LineError) -> Prompt {
        if let ids = record.tokens, !asksByItself {
            if ids.isEmpty { throw LineError(.missingPrompt, "`prompt` is an empty list.") }
            guard messages.isEmpty, prefix == nil, record.system == nil else {
                throw LineError(
                    .badField,
                    "`prompt` is a list of token ids, which can't be combined with messages, a system message or a prefix."
                )
            }
            return .tokens(ids)
        }
        let beginning = try prefix.map { template throws(LineError) in try template.fill(from: record.fields)
        }
        let isCompletion = record.request?.endpoint == .completions
        if isCompletion, system != nil || !messages.isEmpty {
            throw LineError(
                .badField,
                "A completion has no chat template, so the job's system and messages can't be used."
            )
        }
        guard job.chat, !isCompletion else {
            let hasMessages = record.messages != nil && !templateTakesMessages
            guard !hasMessages, record.system == nil else {
                throw LineError(
                    .badField,
                    "`\(hasMessages ? "messages" : "system")` needs a chat template, but the job says chat: false."
                )
            }
            let text = try question(record)
            if !mayBeEmpty { try checkText(text, "The prompt") }
            return .text(text + (beginning ?? ""))
        }
        let conversation = try conversation(record)
        return beginning.map { .continued(conversation, prefix: $0) } ?? .messages(conversation)
    }

    /// Returns the system message, the job's messages, and the line's messages or question. The job's system message
    /// replaces the line's own.
    private func conversation(_ record: PromptRecord) throws(LineError) -> [ChatMessage] {
        var own: [ChatMessage]
        if let messages = record.messages, !templateTakesMessages {
            guard record.fields["prompt"] == nil else {
                throw LineError(
                    .badField,
                    "The line has both `prompt` and `messages`; keep one, or choose with the job's prompt template."
                )
            }
            guard !asksByItself, !isPromptChosen else {
                throw LineError(
                    .badField,
                    "The request has `messages`, but the job has the question, too; leave that out, or let the job's prompt use `messages`."
                )
            }
            own = messages
            // After a call comes its result, which may be empty.
            if let last = own.last, last.role == "user" { try checkText(last.content, "The last message") }
        } else {
            own = asksByItself ? [] : [ChatMessage(role: "user", content: try question(record))]
            if let question = own.last { try checkText(question.content, "The prompt") }
        }
        if let text = record.system, system == nil {
            guard own.first?.role != "system" else {
                throw LineError(
                    .badField,
                    "The line has `system` and begins its `messages` with a system message; keep one.")
            }
            own.insert(ChatMessage(role: "system", content: text), at: 0)
        }
        var examples: [ChatMessage] = []
        for (role, content) in messages {
            examples.append(ChatMessage(role: role, content: try content.fill(from: record.fields)))
        }
        if asksByItself, let question = examples.last { try checkText(question.content, "The prompt") }
        own.insert(contentsOf: examples, at: own.first?.role == "system" ? 1 : 0)
        if let system {
            if own.first?.role != "system" { own.insert(ChatMessage(role: "system", content: ""), at: 0) }
            own[0].content = try system.fill(from: record.fields)
        }
        return own
    }

    private func checkText(_ text: String, _ name: String) throws(LineError) {
        guard !job.allowsEmpty, text.unicodeScalars.allSatisfy(\.properties.isWhitespace) else { return }
        throw LineError(
            .emptyPrompt, "\(name) is white space only; `allow_empty: true` in a job allows that.")
    }

    private func question(_ record: PromptRecord) throws(LineError) -> String {
        if record.messages == nil, record.tokens == nil, !isPromptChosen {
            switch record.fields.given("prompt") {
            case .string?: break
            case nil:
                if mayBeEmpty { return "" }
                throw LineError(
                    .missingPrompt, "The line has no `prompt` (a string or token ids) and no `messages`.")
            case let other?:
                throw LineError(
                    .badField, "`prompt` must be a string or a list of token ids, but is \(other.kindName).")
            }
        }
        return try prompt.fill(from: record.fields)
    }
}

/// A job's templates.
extension TextTemplate {
    /// - Parameter key: in the job.
    /// - Throws: `UserError` if it is malformed.
    init(_ key: String, _ source: String) throws {
        do { try self.init(source, name: "the job's \(key) template") } catch let error as UserError {
            throw UserError(.badJob, "\(error)")
        }
    }

    /// - Parameter fields: an object.
    func fill(from fields: JSONValue) throws(LineError) -> String {
        guard case .object(let members) = fields else { return "" }
        do {
            return try render(Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first })
        } catch {
            throw LineError(.templateError, "\(error)")
        }
    }
}
