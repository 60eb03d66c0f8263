import JSON

/// A result for a report, in any format.
package struct ReportedResult: Sendable {
    package var id: String
    /// Index of the line in the output; nil if unknown.
    package var index: Int?
    package var sample = 0
    /// Hash of the line's content; nil if unknown.
    package var lineHash: UInt64?
    /// The finish reason, or the error's code.
    package var status: String
    package var isFailed = false
    /// Steps that ran, and the outcome of the row; nil for a result without steps.
    package var steps: [String] = []
    package var outcome: RowOutcome?
    /// The answer, or nil for an error.
    package var text: String?
    package var message: String?
    /// Line number of an error, from 1.
    package var line: Int?
    /// Nil if unknown.
    package var promptTokens: Int?
    package var completionTokens: Int?
    /// Tokens of all samples of the line together, if only that is known.
    package var lineCompletionTokens: Int?
    package var seed: Int?
    package var timing: GenerationResult.Timing?
    /// Further values by name: the engine's facts, and kept fields of the line.
    package var facts: [(name: String, value: String)] = []
    /// Its data by name.
    package var fields: [ReportedField] = []
    /// Name of the model, if the result has it.
    package var model: String?
    /// Digest of the run, if the result has it.
    package var run: String?

    init(id: String, status: String) {
        self.id = id
        self.status = status
    }

    /// Returns a string without quotes, other values as JSON.
    package static func text(of value: JSONValue) -> String {
        if case .string(let text) = value { text } else { JSONWriter.text(of: value) }
    }
}
