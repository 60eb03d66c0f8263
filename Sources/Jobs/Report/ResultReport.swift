/// Contents of a report: statistics of all results, and the rows of its table.
///
/// The results are read twice, first for the statistics and then for the rows, so that memory only holds prompts.
package final class ResultReport {
    package let source: ReportSource
    package let statistics: ReportStatistics
    /// Number of rows of the table: the first results.
    package let rowCount: Int
    /// Rows whose line has no prompt, has changed, or is gone from the input.
    package let withoutPrompt: Int
    private let prompts: ReportPrompts?

    package var hasPrompts: Bool { prompts != nil }

    /// - Parameters:
    ///   - job: the job whose input has the prompts; nil for a table without them.
    ///   - rowLimit: the most rows of the table.
    /// - Throws: `UserError` if results or input can't be read.
    package init(_ source: ReportSource, job: JobSettings?, rowLimit: Int) throws {
        self.source = source
        var statistics = ReportStatistics(steps: job?.steps.map(\.name) ?? [])
        var keys: [ResultKey] = []
        try source.visit { result in
            statistics.add(result)
            if keys.count < rowLimit { keys.append(result.key) }
            return true
        }
        let prompts = try job.map {
            try ReportPrompts(
                of: $0, for: Set(keys.map { ReportPrompts.hash($0.id) }), schemes: source.lines)
        }
        (self.statistics, self.prompts, rowCount) = (statistics, prompts, keys.count)
        withoutPrompt = prompts.map { prompts in keys.count { prompts.prompt(of: $0) == nil } } ?? 0
    }

    /// Visits the table's rows in the order of the results.
    package func forEachRow(
        _ body: (ReportedResult, _ prompt: (text: String, length: Int)?) throws -> Void
    ) throws {
        var left = rowCount
        try source.visit { result in
            guard left > 0 else { return false }
            left -= 1
            try body(result, prompts?.prompt(of: result.key))
            return true
        }
    }
}
