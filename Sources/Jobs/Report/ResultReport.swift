/// Contents of a report: statistics of all results, and the rows of its table.
///
/// The results are read twice, first for the statistics and then for the rows, so that memory only holds prompts.
package final class ResultReport {
    package let source: ReportSource
    package let statistics: ReportStatistics
    /// The first rows, which the table holds.
    package private(set) var rowCount = 0
    /// Rows whose line has changed, or is gone from the input.
    package private(set) var withoutLine = 0
    private let prompts: ReportPrompts?
    private let names: [ReportPrompts.Name]

    package var hasPrompts: Bool { prompts != nil }

    /// - Parameters:
    ///   - job: the job whose input has the prompts; nil for a table without them.
    ///   - rowLimit: the most rows of the table.
    ///   - byteLimit: the most bytes of the table's texts.
    ///   - progress: called now and then with the number of results read.
    /// - Throws: `UserError` if results or input can't be read.
    package init(
        _ source: ReportSource, job: JobSettings?, rowLimit: Int, byteLimit: Int = 384 << 20,
        progress: (Int) -> Void = { _ in }
    ) throws {
        self.source = source
        var statistics = ReportStatistics(steps: job?.steps.map(\.name) ?? [])
        var names: [ReportPrompts.Name] = []
        var lengths: [Int] = []
        try source.visit { result in
            statistics.add(result)
            if statistics.results & 0xfff == 0 { progress(statistics.results) }
            guard names.count < rowLimit else { return true }
            names.append(.init(id: ReportPrompts.hash(result.key.id), content: result.key.contentHash))
            let length = (result.text?.utf8.count ?? 0) + (result.message?.utf8.count ?? 0)
            lengths.append(min(length, ReportPrompts.textLimit) + 16 * min(result.fields.count, 32))
            return true
        }
        (self.statistics, self.names) = (statistics, names)
        prompts = try job.map {
            try ReportPrompts(of: $0, for: Set(names.map(\.id)), schemes: source.lines, limit: byteLimit)
        }
        var bytes = 0
        for (name, length) in zip(names, lengths) {
            let prompt = prompts?.prompt(name)
            if case .text(let text, _)? = prompt { bytes += text.utf8.count }
            bytes += length
            guard bytes <= byteLimit, prompts?.isLeftOut(name) != true else { break }
            rowCount += 1
            if case .changed? = prompt { withoutLine += 1 }
            if case .gone? = prompt { withoutLine += 1 }
        }
    }

    /// Visits the table's rows in the order of the results; prompts are nil in a table without them.
    package func forEachRow(_ body: (ReportedResult, ReportPrompts.Prompt?) throws -> Void) throws {
        var number = 0
        try source.visit { result in
            guard number < rowCount else { return false }
            defer { number += 1 }
            try body(result, prompts?.prompt(names[number]))
            return true
        }
    }
}
