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
    /// Its row, if it is one.
    package var row: StepsResult? { self as? StepsResult }
    /// Whether no step dropped it.
    package var isAccepted: Bool { row?.dropped == nil }
    package func cell(_ column: String) -> String? { countCell(column) }

    func countCell(_ column: String) -> String? {
        switch column {
        case "prompt_tokens": "\(promptTokens)"
        case "completion_tokens": "\(completionTokens)"
        default: nil
        }
    }

    /// - Parameter reasoning: tokens of the reasoning before an answer.
    func writeUsage(reasoning: Int? = nil, to writer: inout JSONWriter) {
        writer.object("usage") { writer in
            writer.int("prompt_tokens", promptTokens)
            writer.int("completion_tokens", completionTokens)
            if let reasoning { writer.int("reasoning_tokens", reasoning) }
        }
    }
}

extension JSONValue {
    /// Counts of `usage`; nil if one is missing, or none that a result can have.
    var tokenCounts: (prompt: Int, completion: Int, reasoning: Int?)? {
        guard let prompt = int("prompt_tokens"), let completion = int("completion_tokens"),
            case let reasoning = int("reasoning_tokens"),
            [prompt, completion, reasoning ?? 0].allSatisfy({ 0...Int(Int32.max) ~= $0 })
        else { return nil }
        return (prompt, completion, reasoning)
    }

    /// The engine's facts in a result's members.
    var provenance: [String: String] {
        guard case .object(let facts)? = self["provenance"] else { return [:] }
        return facts.reduce(into: [:]) { all, fact in
            if case .string(let value) = fact.value { all[fact.name] = value }
        }
    }
}

extension JSONWriter {
    mutating func provenance(_ facts: [String: String]) {
        guard !facts.isEmpty else { return }
        object("provenance") { writer in
            for (name, value) in facts.sorted(by: { $0.key < $1.key }) { writer.string(name, value) }
        }
    }
}
