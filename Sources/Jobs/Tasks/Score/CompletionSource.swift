import JSON
import PhiText

/// The source of completions to score: a field, or a template over several.
struct CompletionSource: Sendable {
    /// The first of them that a line has holds its completions; none if a template is filled.
    private let fields: [String]
    /// The job's template; nil if it has none.
    let template: TextTemplate?

    /// Number of completions that a line may have.
    private static let countLimit = 1024
    static let standard = ["completion", "text"]

    /// - Parameter source: the job's template. A single field stands for its value, which may be a list.
    /// - Throws: `UserError` if it is malformed.
    init(_ source: String?) throws {
        template = try source.map { try TextTemplate("completion", $0) }
        if let name = source?.wholeMatch(of: /\{\{\s*(\w+)\s*\}\}/)?.1, template?.variables == [String(name)]
        {
            fields = [String(name)]
        } else {
            fields = template == nil ? Self.standard : []
        }
    }

    /// Returns each completion with the prompt before it, and whether the line has a list of them.
    func completions(
        of record: PromptRecord, after prompt: Prompt
    ) throws(LineError) -> (all: [Prompt], isList: Bool) {
        if fields.isEmpty, let template {
            let text = try template.fill(from: record.fields)
            if text.isEmpty { throw LineError(.badField, "The completion is empty.") }
            return (try Self.following([text], prompt), false)
        }
        let line = record.fields
        guard let name = fields.first(where: { line.given($0) != nil }), let value = line.given(name) else {
            let all = fields.map { "`\($0)`" }.joined(separator: " and no ")
            throw LineError(.badField, "The line has no \(all): nothing to score.")
        }
        if case .array(let elements) = value {
            if elements.isEmpty { throw LineError(.badField, "`\(name)` is an empty list.") }
            if case .tokens(let own) = prompt, let ids = try line.tokenIDs(name) {
                return ([.tokens(own + ids)], false)
            }
            guard elements.count <= Self.countLimit else {
                throw LineError(
                    .badField,
                    "`\(name)` has \(elements.count) elements; at most \(Self.countLimit) are scored for one line."
                )
            }
            let texts = try JSONValue.strings(elements, of: name)
            if let number = texts.firstIndex(of: "") {
                throw LineError(.badField, "`\(name)[\(number)]` is empty.")
            }
            return (try Self.following(texts, prompt), true)
        }
        guard case .string(let text) = value else {
            throw LineError(
                .badField, "`\(name)` must be a string or a list of strings, but is \(value.kindName).")
        }
        if text.isEmpty { throw LineError(.badField, "`\(name)` is empty.") }
        return (try Self.following([text], prompt), false)
    }

    private static func following(_ texts: [String], _ prompt: Prompt) throws(LineError) -> [Prompt] {
        if case .tokens = prompt {
            throw LineError(
                .badField,
                "`prompt` is a list of token ids, so what is scored after it must be one too.")
        }
        return texts.map(prompt.followed)
    }
}

extension Prompt {
    /// Returns the prompt with a text in place of the model's answer.
    func followed(by text: String) -> Prompt {
        switch self {
        case .messages(let messages): .continued(messages, prefix: text)
        case .continued(let messages, let prefix): .continued(messages, prefix: prefix + text)
        case .text(let own): .text(own + text)
        case .tokens: preconditionFailure("no text follows token ids")
        }
    }
}
