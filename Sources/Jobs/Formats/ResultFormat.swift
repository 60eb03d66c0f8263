import Errors
import PhiText

/// Format of an output's results. A format is one file in this folder and one line in `ResultFormats.all`.
///
/// A format only writes: the log is the record of an output.
package protocol ResultFormat: Sendable {
    var name: String { get }

    /// Suffixes of outputs' names for this format, without the dot.
    var nameEnds: [String] { get }

    /// Whether all results of a line are one piece of the output. By default each is one.
    var isByLine: Bool { get }

    /// Whether a result is a row of cells with columns known beforehand. By default not.
    var hasColumns: Bool { get }

    /// The format as a table that is written as a whole at the end; nil, the default, if it is text.
    var table: ParquetResults? { get }

    /// Layout of the format for a job, such as names of columns, as stored in the log; empty by default.
    var layout: String { get set }

    /// Returns the format with a job's `results`; nil, the default, if it can't have that.
    func showing(_ detail: ResultDetail) -> (any ResultFormat)?

    /// Returns the format as a job needs it, such as with its columns; by default as it is.
    func fitting(_ job: JobSettings) -> any ResultFormat

    /// Returns the reason why it can't write a job's results; nil if it can.
    func problem(with job: JobSettings) -> String?

    /// Text before the first result, which is there even without results. None by default.
    var head: [UInt8] { get }

    /// Appends one piece, to the end of its line; nothing if the output has none for it.
    func write(_ piece: ResultPiece, to output: inout [UInt8])

    /// Returns the text after the last result. None by default.
    func end(isEmpty: Bool) -> String
}

extension ResultFormat {
    package var nameEnds: [String] { [] }
    package var isByLine: Bool { false }
    package var hasColumns: Bool { false }
    package var table: ParquetResults? { nil }
    package var layout: String {
        get { "" }
        set {}
    }
    package func showing(_ detail: ResultDetail) -> (any ResultFormat)? { nil }
    package func fitting(_ job: JobSettings) -> any ResultFormat { self }
    package func problem(with job: JobSettings) -> String? { nil }
    package var head: [UInt8] { [] }
    package func end(isEmpty: Bool) -> String { "" }

    /// Names that a kept field can't have.
    func ownNames(of job: JobSettings) -> Set<String> {
        let columns = hasColumns ? DelimitedOutput.all(job.task.columns(of: job) ?? []) : []
        return KeptFields.resultNames(of: job.task).union(columns)
    }

    package func makeEncoder(for run: ResultRun, _ part: ResultEncoder.Part = .all) -> ResultEncoder {
        ResultEncoder(format: self, run: run, part: part)
    }
}

/// Format of a job's output, known by its name.
package struct OutputFormat: Sendable, Equatable {
    package var format: any ResultFormat
    /// Whether failed lines have a file of their own (`errors`).
    package var omitsFailures: Bool

    static let omittingEnd = "+errors"

    package init(_ format: any ResultFormat, omitsFailures: Bool = false) {
        (self.format, self.omitsFailures) = (format, omitsFailures)
    }

    /// Name in the log.
    package var name: String { format.name + (omitsFailures ? Self.omittingEnd : "") }
    package var layout: String { format.layout }

    package static func == (a: Self, b: Self) -> Bool { a.name == b.name }

    package func makeEncoder(for run: ResultRun) -> ResultEncoder {
        format.makeEncoder(for: run, omitsFailures ? .successes : .all)
    }
}

/// Returns the part of the prompt that a result carries beside kept fields of its line. Throws if the output can't have
/// this prompt.
package typealias CarriedPrompt = @Sendable (Prompt) throws(LineError) -> GenerationResult.CarriedValue

/// Common facts of an output's results.
package struct ResultRun: Sendable {
    /// Digest of the run's fingerprint.
    package var digest: String
    /// Number of results of a line.
    package var samples: Int
}

/// Identity of a result.
package struct ResultPlace: Sendable {
    package var key: ResultKey
    /// Digest of the run that made it, if it isn't the output's.
    package var run: String?
}

/// Part of an output.
package struct ResultPiece {
    /// One result, or all of a line if the format is by line.
    package var results: [GenerationResult]
    /// Identity of the last of them.
    package var place: ResultPlace
    package var run: ResultRun
    /// Whether there was none before.
    package var isFirst: Bool
}

/// Writes one output from beginning to end. The same calls give the same bytes.
package struct ResultEncoder {
    /// Pieces to write; a line's piece failed if one of its results did.
    package enum Part { case all, successes, failures }

    let format: any ResultFormat
    private let run: ResultRun
    private let part: Part
    /// Results of the current piece so far.
    private var held: [GenerationResult] = []
    private var isEmpty = true

    fileprivate init(format: any ResultFormat, run: ResultRun, part: Part) {
        (self.format, self.run, self.part) = (format, run, part)
    }

    /// Appends the text before the first result. Called once, even without results.
    package func begin(_ output: inout [UInt8]) { output += format.head }

    package mutating func append(
        _ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8]
    ) {
        held.append(result)
        if format.isByLine, place.key.sample + 1 < OpenAIRequest(of: result).choices ?? run.samples { return }
        defer { held.removeAll(keepingCapacity: true) }
        if part != .all, held.contains(where: \.isFailed) != (part == .failures) { return }
        let before = output.count
        format.write(ResultPiece(results: held, place: place, run: run, isFirst: isEmpty), to: &output)
        isEmpty = isEmpty && output.count == before
    }

    /// Appends the text after the last result. Called once, even without results.
    package func end(_ output: inout [UInt8]) { output += format.end(isEmpty: isEmpty).utf8 }
}

/// The formats that outputs can have.
package enum ResultFormats {
    package static let all: [any ResultFormat] = [
        JSONResults.lines, JSONResults.array, OpenAIResults(), DelimitedOutput.csv, DelimitedOutput.tsv,
        ParquetResults(),
    ]

    package static func named(_ name: String) -> (any ResultFormat)? { all.first { $0.name == name } }

    /// The default format of an output.
    package static let standard: any ResultFormat = JSONResults.lines
}
