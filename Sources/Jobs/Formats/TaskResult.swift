import JSON

/// What a task makes of one piece of work. Its members are those of a JSON object, which a reader of the same task reads
/// again.
package protocol TaskResult: Sendable, Equatable {
    /// What reads results again; it is asked in the order of the list of tasks.
    static var reader: any ResultReader.Type { get }
    /// The members that it may have, beside those that all results have.
    static var names: Set<String> { get }
    /// The columns of a table of results; nil if they have no place in one, the default.
    static var columns: [String]? { get }
    /// Whether it is an answer. The default is that it is.
    static var isAnswer: Bool { get }

    var promptTokens: Int { get }
    var completionTokens: Int { get }
    /// The completion that it is, where it is one. The default is none.
    var completion: GeneratedResult? { get }

    /// What it counts as in the summary of a run, where results differ in that; nil, the default, where they don't.
    var tally: RowOutcome? { get }
    /// Whether it counts as one of those that are wanted. The default is that it does.
    var isAccepted: Bool { get }

    /// Writes its members.
    func write(_ members: ResultMembers, to writer: inout JSONWriter)
    /// What it adds to a completion in formats of others. The default is nothing.
    func writeMore(to writer: inout JSONWriter)
    /// What a table has in a column; nil for nothing, the default where it is no count of tokens.
    func cell(_ column: String) -> String?
    /// What a report shows of it.
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
/// A scan over very many results need not keep what it reads: then `result` has no texts and no lists, but is nil for
/// the same bytes.
package protocol ResultReader: Sendable {
    /// Nil if no result of the task begins with this member.
    init?(first name: UnsafeBufferPointer<UInt8>, keeps: Bool)
    /// - Returns: false, and nothing is read, if the member is none of the task's.
    /// - Throws: `JSONFault` if its value can't be a result's.
    mutating func take(_ name: UnsafeBufferPointer<UInt8>, from scanner: inout JSONScanner) throws -> Bool
    /// Nil if the members don't make a result.
    var result: (any TaskResult)? { get }
}
