import PhiText

/// Format of an output's results: a value in a file of this folder and its place in `all`.
///
/// A format only writes: the log is the record of an output.
package struct ResultFormat: Sendable, Equatable {
    /// Appends what an encoder holds, to the end of its line; nothing if the output has no row for it.
    package typealias Writer = (ResultEncoder, inout [UInt8]) -> Void

    /// Name in a job file.
    let word: String
    /// Suffixes of outputs' names for this format, without the dot.
    var nameEnds: [String] = []
    /// Whether all results of a line are one piece of the output; else each is one.
    package var isByLine = false
    /// Whether a result is a row of cells with columns known beforehand; `layout` is the line of their names then.
    var hasColumns = false
    /// Columns of a table that is written as a whole at the end; nil if the output is text.
    var table: ParquetColumns?
    /// Text before the first result of an output without columns.
    var start = ""
    /// Text after the last result, and in an output without results.
    var ends = (other: "", empty: "")
    /// The job's `results` that the format shows by default; nil if it shows no others.
    var ownDetail: ResultDetail?
    /// The job's `results`.
    var detail = ResultDetail.full
    /// Whether failed lines have a file of their own (`errors`).
    var omitsFailures = false
    /// Layout for a job, such as names of columns, as stored in the log.
    package var layout = ""

    /// Fits the layout to a job.
    var fit: @Sendable (inout Self, JobSettings) -> Void = { _, _ in }
    /// Returns the reason why it can't write a job's results; nil if it can.
    var fault: @Sendable (Self, JobSettings) -> String? = { _, _ in nil }
    let makeWriter: @Sendable (Self) -> Writer

    package static let all = [jsonl, json, openAI(), csv, tsv, parquet]

    static let omittingEnd = "+errors"

    /// Name with the job's `results`.
    package var name: String { word + (detail == ownDetail ?? .full ? "" : "+\(detail.rawValue)") }
    package var nameInLog: String { name + (omitsFailures ? Self.omittingEnd : "") }

    package static func == (a: Self, b: Self) -> Bool { a.nameInLog == b.nameInLog }

    /// Returns the format with a job's `results`; nil if it can't have that.
    package func showing(_ detail: ResultDetail) -> Self? {
        guard let ownDetail else { return nil }
        var format = self
        format.detail = detail == .full ? ownDetail : detail
        return format
    }

    func problem(with job: JobSettings) -> String? { fault(self, job) ?? detail.problem(with: job) }

    /// Names that a kept field can't have.
    func ownNames(of job: JobSettings) -> Set<String> {
        let columns = hasColumns ? Self.allColumns(job.task.columns(of: job) ?? []) : []
        return KeptFields.resultNames(of: job.task).union(columns)
    }

}

/// Writes one output from beginning to end. The same calls give the same bytes.
package struct ResultEncoder {
    let format: ResultFormat
    private let write: ResultFormat.Writer
    /// Number of results of a line.
    let samples: Int
    /// Whether to write what failed, or the rest; nil for all. A line failed if one of its results did.
    private let failures: Bool?
    /// The results to write: one, or all of a line if the format is by line.
    private(set) var held: [ResultRecord] = []
    /// The last of them.
    package var record: ResultRecord { held[held.count - 1] }
    /// Whether nothing was written.
    private(set) var isEmpty = true

    /// - Parameter failures: whether to write failed lines alone.
    package init(_ format: ResultFormat, samples: Int, failures: Bool = false) {
        (self.format, self.samples, write) = (format, samples, format.makeWriter(format))
        self.failures = failures ? true : format.omitsFailures ? false : nil
    }

    /// Appends the text before the first result. Called once, even without results.
    package func begin(_ output: inout [UInt8]) {
        output += (format.hasColumns ? format.layout : format.start).utf8
    }

    package mutating func append(_ record: ResultRecord, to output: inout [UInt8]) {
        held.append(record)
        if format.isByLine, record.key.sample + 1 < OpenAIRequest(of: record.result).choices ?? samples {
            return
        }
        defer { held.removeAll(keepingCapacity: true) }
        if let failures, held.contains(where: \.result.isFailed) != failures { return }
        let before = output.count
        write(self, &output)
        isEmpty = isEmpty && output.count == before
    }

    /// Appends the text after the last result. Called once, even without results.
    package func end(_ output: inout [UInt8]) {
        output += (isEmpty ? format.ends.empty : format.ends.other).utf8
    }
}
