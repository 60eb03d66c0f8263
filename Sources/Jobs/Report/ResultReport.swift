/// What a report of results says, apart from how it looks: the numbers of all of them, and the rows of its table.
///
/// The results are read twice, first for the numbers and then for the rows, so that memory does not grow with them;
/// of the table's rows it holds 24 bytes each, and the places of their prompts.
package final class ResultReport {
    package struct Row {
        package var result: ReportedResult
        /// Nil if nobody asked for prompts.
        package var prompt: ReportPrompts.Prompt?
    }

    package let source: ReportSource
    package let statistics: ReportStatistics
    /// Rows that the table holds, the first of all.
    package let rowCount: Int
    package let hasPrompts: Bool
    /// Rows whose line is another now, or is gone from the input.
    package let withoutLine: Int
    private let prompts: ReportPrompts?
    private let names: [Name]

    private struct Name {
        var id: UInt64
        var content: UInt64?
    }

    /// - Parameters:
    ///   - job: whose input has the prompts; nil for a table without them.
    ///   - rowLimit: rows that the table holds at most.
    ///   - byteLimit: of the table's texts.
    ///   - folder: where prompts go meanwhile; nil for memory.
    ///   - progress: called now and then, with the results read so far.
    /// - Throws: `JobError` or `StoreError` if results or input can't be read.
    package init(
        _ source: ReportSource, job: JobSettings?, rowLimit: Int, byteLimit: Int = 384 << 20,
        folder: String? = nil, progress: (Int) -> Void = { _ in }
    ) throws {
        self.source = source
        var statistics = ReportStatistics(steps: job?.steps.map(\.name) ?? [])
        var names: [Name] = []
        var lengths: [Int32] = []
        try source.visit { result in
            statistics.add(result)
            if statistics.results & 0xfff == 0 { progress(statistics.results) }
            guard names.count < rowLimit else { return true }
            names.append(Name(id: ReportPrompts.hash(result.id), content: result.lineHash))
            let length = (result.text?.utf8.count ?? 0) + (result.message?.utf8.count ?? 0)
            lengths.append(Int32(min(length, ReportPrompts.textLimit) + 16 * min(result.fields.count, 32)))
            return true
        }
        self.statistics = statistics
        let prompts = try job.map { job in
            try ReportPrompts(of: job, for: Set(names.map(\.id)), schemes: source.lines, folder: folder)
        }
        var (bytes, rows, withoutLine) = (0, 0, 0)
        for (name, length) in zip(names, lengths) {
            bytes += Int(length) + (prompts?.byteCount(id: name.id, content: name.content) ?? 0)
            guard bytes <= byteLimit else { break }
            rows += 1
            if let prompts, prompts.isWithoutLine(id: name.id, content: name.content) { withoutLine += 1 }
        }
        (rowCount, hasPrompts, self.withoutLine) = (rows, job != nil, withoutLine)
        self.prompts = prompts
        self.names = names
    }

    /// Goes through the table's rows, in the order of the results.
    package func forEachRow(_ body: (Row) throws -> Void) throws {
        var number = 0
        try source.visit { result in
            guard number < rowCount else { return false }
            let name = names[number]
            number += 1
            try body(
                Row(result: result, prompt: try prompts?.prompt(id: name.id, content: name.content)))
            return true
        }
    }
}
