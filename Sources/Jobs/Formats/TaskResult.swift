import JSON

/// Result of a task, encoded as members of a JSON object, with a reader.
package protocol TaskResult: Sendable, Equatable {
    /// Reader of results; readers are tried in the order of the tasks.
    static var reader: any ResultReader.Type { get }
    /// Members that it may have, beside those of all results.
    static var names: Set<String> { get }
    /// Columns in a table; nil, the default, if it can't be in one.
    static var columns: [String]? { get }
    /// Whether it is an answer. True by default.
    static var isAnswer: Bool { get }

    var promptTokens: Int { get }
    var completionTokens: Int { get }
    /// Its completion, if it is one. None by default.
    var completion: GeneratedResult? { get }

    /// Its category in the summary of a run, if results differ in that; nil by default.
    var tally: RowOutcome? { get }
    /// Whether it counts as wanted. True by default.
    var isAccepted: Bool { get }

    /// Writes its members.
    func write(_ members: ResultMembers, to writer: inout JSONWriter)
    /// Writes additions to a completion in foreign formats. None by default.
    func writeMore(to writer: inout JSONWriter)
    /// Returns the cell of a column; nil, the default, except for counts of tokens.
    func cell(_ column: String) -> String?
    /// Describes it in a report.
    func describe(in report: inout ReportedResult)
}

extension TaskResult {
    package static var columns: [String]? { nil }
    package static var isAnswer: Bool { true }
    package var completion: GeneratedResult? { nil }
    package var tally: RowOutcome? { nil }
    package var isAccepted: Bool { true }
    package func writeMore(to writer: inout JSONWriter) {}
    package func cell(_ column: String) -> String? { countCell(column) }

    func countCell(_ column: String) -> String? {
        switch column {
        case "prompt_tokens": "\(promptTokens)"
        case "completion_tokens": "\(completionTokens)"
        default: nil
        }
    }

    func isEqual(to other: any TaskResult) -> Bool { (other as? Self) == self }
}

/// Reads the members of a task's result from an object that has others too.
///
/// A scan over very many results need not keep their content: then `result` has no texts and no lists, but is nil for
/// the same bytes.
package protocol ResultReader: Sendable {
    /// Nil if no result of the task begins with this member.
    init?(first name: UnsafeBufferPointer<UInt8>, keeps: Bool)
    /// - Returns: false, without reading, if the member is none of the task's.
    /// - Throws: `JSONFault` if its value is invalid.
    mutating func take(_ name: UnsafeBufferPointer<UInt8>, from scanner: inout JSONScanner) throws -> Bool
    /// Nil if the members are no complete result.
    var result: (any TaskResult)? { get }
}
