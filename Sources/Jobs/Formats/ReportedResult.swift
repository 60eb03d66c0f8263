import JSON

/// A result as a report shows it, whatever the file's format.
package struct ReportedResult: Sendable {
    package var id: String
    /// The line's place in the output, from 0; nil where the file doesn't say.
    package var index: Int?
    package var sample = 0
    /// A hash of the line's content; nil if the file doesn't say.
    package var lineHash: UInt64?
    /// The finish reason, or the error's code.
    package var status: String
    package var isFailed = false
    /// The steps that were made, and what became of the row; nil of a result without steps.
    package var steps: [String] = []
    package var outcome: RowOutcome?
    /// The answer, or nil for an error.
    package var text: String?
    package var message: String?
    /// Where the line of an error is, from 1.
    package var line: Int?
    /// Nil where the file doesn't say.
    package var promptTokens: Int?
    package var completionTokens: Int?
    /// Tokens of all samples of the line together, where a file says no more than that.
    package var lineCompletionTokens: Int?
    package var seed: Int?
    package var timing: GenerationResult.Timing?
    /// Further values by name: of the engine, and fields of the line that the job keeps.
    package var facts: [(name: String, value: String)] = []
    /// What its data are, by name.
    package var fields: [ReportedField] = []
    /// The model's name, if the result says it.
    package var model: String?
    /// The digest of the run, if the result says it.
    package var run: String?

    init(id: String, status: String) {
        self.id = id
        self.status = status
    }

    /// A string without its quotes, other values as JSON.
    package static func text(of value: JSONValue) -> String {
        if case .string(let text) = value { text } else { JSONWriter.text(of: value) }
    }
}
