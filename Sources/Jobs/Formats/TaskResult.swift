import JSON

/// Result of a task, written as members of a JSON object and read from a log's.
package protocol TaskResult: Sendable {
    /// Members that it may have, beside those of all results.
    static var names: Set<String> { get }
    /// The columns of a table of a job's results; nil, the default, if no table holds them.
    static func columns(of job: JobSettings) -> [String]?

    /// - Parameter log: an object with the members that `write` has written for the log. Nil if they are no such result.
    init?(_ log: JSONValue)

    var promptTokens: Int { get }
    var completionTokens: Int { get }

    /// Writes its members.
    func write(_ members: ResultMembers, to writer: inout JSONWriter)
    /// Returns the cell of a column; nil, the default, except for counts of tokens.
    func cell(_ column: String) -> String?
    /// Describes it in a report.
    func describe(in report: inout ReportedResult)
}

extension TaskResult {
    package static func columns(of job: JobSettings) -> [String]? { nil }
    /// Its completion, if it is one.
    package var completion: GeneratedResult? { self as? GeneratedResult }
    /// The outcome of a row of steps; nil for other results.
    package var tally: RowOutcome? { (self as? StepsResult)?.outcome }
    /// Whether no step dropped it.
    package var isAccepted: Bool { (self as? StepsResult)?.dropped == nil }
    package func cell(_ column: String) -> String? { countCell(column) }

    func countCell(_ column: String) -> String? {
        switch column {
        case "prompt_tokens": "\(promptTokens)"
        case "completion_tokens": "\(completionTokens)"
        default: nil
        }
    }
}
