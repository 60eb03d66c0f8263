import JSON

/// A result for a report.
package struct ReportedResult: Sendable {
    package let key: ResultKey
    /// Index of the line in the output; nil if unknown.
    package var index: Int?
    /// The finish reason, or the error's code.
    package var status = "unknown"
    package private(set) var isFailed = false
    /// Nil for a result without steps.
    var row: StepsResult?
    /// The answer; nil for an error without one.
    package var text: String?
    package private(set) var message: String?
    /// Line number of an error, from 1.
    package private(set) var line: Int?
    /// Nil for an error.
    package private(set) var promptTokens: Int?
    package private(set) var completionTokens: Int?
    package var seed: Int?
    package private(set) var timing: GenerationResult.Timing?
    /// Further values by name: the engine's facts, and kept fields of the line.
    package var facts: [(name: String, value: String)] = []
    /// Its data by name.
    package var fields: [ReportedField] = []

    package var sample: Int { key.sample }

    init(_ record: ResultRecord) {
        let result = record.result
        (key, timing) = (record.key, result.timing)
        switch result.content {
        case .made(let made):
            (promptTokens, completionTokens) = (made.promptTokens, made.completionTokens)
            made.describe(in: &self)
        case .failed(let failure):
            (status, message) = (failure.error.code.rawValue, failure.error.message)
            (isFailed, text, line) = (true, failure.text, failure.line)
            if let file = failure.file { facts.append(("file", file)) }
        }
        for kept in result.kept where kept.name != OpenAIRequest.keptName {
            let value = (try? JSONValue(parsing: Array(kept.json.utf8), limits: .line)) ?? .string(kept.json)
            facts.append((kept.name, Self.text(of: value)))
            fields += ReportedField.parts(of: value, at: [kept.name], isOfLine: true)
        }
    }

    /// A step's result, of a row with that key.
    init(step result: any TaskResult, of key: ResultKey) {
        self.key = key
        status = ""
        result.describe(in: &self)
    }

    /// Returns a string without quotes, other values as JSON.
    package static func text(of value: JSONValue) -> String {
        if case .string(let text) = value { text } else { JSONWriter.text(of: value) }
    }
}
