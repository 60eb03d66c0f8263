import JSON

/// A result for a report.
package struct ReportedResult: Sendable {
    package let key: ResultKey
    private let result: GenerationResult
    /// Index of the line in the output; nil if unknown.
    package var index: Int?
    /// The finish reason, or the error's code.
    package var status = "unknown"
    /// The answer; nil for an error without one.
    package var text: String?
    /// Further values by name: the engine's facts, and kept fields of the line.
    package var facts: [(name: String, value: String)] = []
    /// Its data by name.
    package var fields: [ReportedField] = []

    package var sample: Int { key.sample }
    package var isFailed: Bool { result.isFailed }
    package var message: String? { result.failure?.error.message }
    /// Line number of an error, from 1.
    package var line: Int? { result.failure?.line }
    /// Nil for an error.
    package var promptTokens: Int? { result.made?.promptTokens }
    package var completionTokens: Int? { result.made?.completionTokens }
    package var seed: Int? { result.made?.completion?.seed }
    /// Nil for a result without steps.
    package var row: StepsResult? { result.made?.row }
    package var timing: GenerationResult.Timing? { result.timing }

    package init(_ record: ResultRecord) { self.init(record.result, record.key) }

    init(_ result: GenerationResult, _ key: ResultKey) {
        (self.key, self.result) = (key, result)
        switch result.content {
        case .made(let made): made.describe(in: &self)
        case .failed(let failure):
            (status, text) = (failure.error.code.rawValue, failure.text)
            if let file = failure.file { facts.append(("file", file)) }
        }
        for kept in result.kept where kept.name != OpenAIRequest.keptName {
            let value = (try? JSONValue(parsing: Array(kept.json.utf8), limits: .line)) ?? .string(kept.json)
            facts.append((kept.name, Self.text(of: value)))
            fields += ReportedField.parts(of: value, at: [kept.name], isOfLine: true)
        }
    }

    /// Returns a string without quotes, other values as JSON.
    package static func text(of value: JSONValue) -> String {
        if case .string(let text) = value { text } else { JSONWriter.text(of: value) }
    }
}

/// A value to group results by: a member of a structured answer, a class, a score, a field of the line.
package struct ReportedField: Sendable {
    /// Names of the enclosing objects and its own; empty for an answer as a whole.
    package var path: [String]
    /// Whether it is kept from the line.
    package var isOfLine: Bool
    package var value: JSONValue
    /// Depth to which objects are opened.
    private static let depth = 4

    init(_ path: [String], _ value: JSONValue, isOfLine: Bool = false) {
        (self.path, self.value, self.isOfLine) = (path, value, isOfLine)
    }

    /// Returns an object's members recursively; any other value alone.
    static func parts(of value: JSONValue, at path: [String] = [], isOfLine: Bool = false) -> [Self] {
        guard case .object(let members) = value, !members.isEmpty, path.count < depth else {
            return [Self(path, value, isOfLine: isOfLine)]
        }
        return members.flatMap { parts(of: $0.value, at: path + [$0.name], isOfLine: isOfLine) }
    }

    /// Returns the members of an answer that is an object, or else the answer itself.
    static func parts(ofAnswer text: String) -> [Self] {
        parts(of: GeneratedResult.object(of: text).map { .object($0) } ?? .string(text))
    }

    /// Name on a page.
    package static func name(of path: [String]) -> String {
        path.isEmpty ? "text" : path.joined(separator: ".")
    }
}
