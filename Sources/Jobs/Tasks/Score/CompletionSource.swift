import JSON
import PhiText

/// A line's completions to score.
struct LineCompletions: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        case texts([String])
        /// One completion, as token ids.
        case tokens([Int32])
    }

    var content: Content
    /// Whether the line, and so its result, has a list of them.
    var isList = false
}

/// The source of completions to score: a field, or a template over several.
struct CompletionSource: Sendable {
    private enum Location: Sendable {
        /// The first that the line has.
        case fields([String])
        case template(TextTemplate)
    }
    private let place: Location
    /// The job's template; nil if it has none.
    let template: TextTemplate?

    /// Number of completions that a line may have.
    static let countLimit = 1024
    static let standard = ["completion", "text"]

    /// - Parameter source: the job's template. A single field stands for its value, which may be a list.
    /// - Throws: `UserError` if it is malformed.
    init(_ source: String?) throws {
        guard let source else {
            (place, template) = (.fields(Self.standard), nil)
            return
        }
        let template = try TextTemplate("completion", source)
        self.template = template
        if let name = source.wholeMatch(of: /\{\{\s*(\w+)\s*\}\}/)?.1, template.variables == [String(name)] {
            place = .fields([String(name)])
        } else {
            place = .template(template)
        }
    }

    /// - Parameter prompt: comes before the completion: token ids go with token ids.
    func completions(of record: PromptRecord, after prompt: Prompt) throws(LineError) -> LineCompletions {
        switch place {
        case .template(let template):
            let text = try template.fill(from: record.fields)
            if text.isEmpty { throw LineError(.badField, "The completion is empty.") }
            return LineCompletions(content: try check([text], after: prompt))
        case .fields(let names):
            let line = record.fields
            guard let name = names.first(where: { line.given($0) != nil }), let value = line.given(name)
            else {
                let all = names.map { "`\($0)`" }.joined(separator: " and no ")
                throw LineError(.badField, "The line has no \(all): nothing to score.")
            }
            if case .tokens = prompt, let ids = try line.tokenIDs(name) {
                if ids.isEmpty { throw LineError(.badField, "`\(name)` is an empty list.") }
                return LineCompletions(content: .tokens(ids))
            }
            let (texts, isList) = try Self.texts(value, name)
            return LineCompletions(content: try check(texts, after: prompt), isList: isList)
        }
    }

    private func check(_ texts: [String], after prompt: Prompt) throws(LineError) -> LineCompletions.Content {
        if case .tokens = prompt {
            throw LineError(
                .badField,
                "`prompt` is a list of token ids, so what is scored after it must be one too.")
        }
        return .texts(texts)
    }

    private static func texts(
        _ value: JSONValue, _ name: String
    ) throws(LineError) -> (texts: [String], isList: Bool) {
        guard case .array(let elements) = value else {
            return ([try text(value, name, "a string or a list of strings")], false)
        }
        guard !elements.isEmpty else { throw LineError(.badField, "`\(name)` is an empty list.") }
        guard elements.count <= countLimit else {
            throw LineError(
                .badField,
                "`\(name)` has \(elements.count) elements; at most \(countLimit) are scored for one line.")
        }
        var texts: [String] = []
        for (number, element) in elements.enumerated() {
            texts.append(try text(element, "\(name)[\(number)]", "a string"))
        }
        return (texts, true)
    }

    private static func text(_ value: JSONValue, _ name: String, _ right: String) throws(LineError) -> String
    {
        guard case .string(let text) = value else {
            throw LineError(.badField, "`\(name)` must be \(right), but is \(value.kindName).")
        }
        if text.isEmpty { throw LineError(.badField, "`\(name)` is empty.") }
        return text
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
