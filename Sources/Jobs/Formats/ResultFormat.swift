import Errors
import PhiText

/// Format of an output's results. A format is one file in this folder and one line in `ResultFormats.all`.
///
/// A format only writes: the log is the record of an output.
package protocol ResultFormat: Sendable {
    var name: String { get }

    /// Whether all samples of a line form one piece of the output, at the last of them.
    var isByLine: Bool { get }

    /// The format of all results, if this one writes only a part of them.
    var base: any ResultFormat { get }

    /// Returns the format with a job's `results`; nil, the default, if it can't have that.
    func showing(_ detail: ResultDetail) -> (any ResultFormat)?

    /// Returns the format as a job needs it, such as with its columns; by default as it is.
    func fitting(_ job: JobSettings) -> any ResultFormat

    /// Names that a kept field can't have; by default those of the results' members.
    func ownNames(of job: JobSettings) -> Set<String>

    /// Whether a result is a row of cells with columns known beforehand. By default not.
    var hasColumns: Bool { get }

    /// The format as a table that is written as a whole at the end; nil, the default, if it is text.
    var table: ParquetResults? { get }

    /// Returns the reason why it can't write a job's results; nil if it can.
    func problem(with job: JobSettings) -> String?

    /// Layout of the format for a job, such as names of columns, as stored in the log; empty by default.
    var layout: String { get }

    /// Returns the format with a stored layout.
    func having(layout: String) -> any ResultFormat

    func makeEncoder(for run: ResultRun) -> any ResultEncoder

    /// Suffixes of outputs' names for this format, without the dot.
    var nameEnds: [String] { get }
}

extension ResultFormat {
    package var isByLine: Bool { false }
    package var base: any ResultFormat { self }
    package func showing(_ detail: ResultDetail) -> (any ResultFormat)? { nil }
    package func fitting(_ job: JobSettings) -> any ResultFormat { self }
    package func ownNames(of job: JobSettings) -> Set<String> { KeptFields.resultNames(of: job.task) }
    package var hasColumns: Bool { false }
    package var table: ParquetResults? { nil }
    package func problem(with job: JobSettings) -> String? { nil }
    package var layout: String { "" }
    package func having(layout: String) -> any ResultFormat { self }
    package var nameEnds: [String] { [] }

    /// Returns an output without results.
    func empty(of run: ResultRun) -> [UInt8] {
        var empty: [UInt8] = []
        var encoder = makeEncoder(for: run)
        encoder.begin(&empty)
        encoder.end(&empty)
        return empty
    }
}

/// Part of the prompt that a result carries beside kept fields of its line.
package struct CarriedPrompt: Sendable {
    /// Name of the member.
    let name: String
    /// Returns it as JSON. Throws if the output can't have this prompt.
    let json: @Sendable (Prompt) throws(LineError) -> String

    func value(of prompt: Prompt) throws(LineError) -> GenerationResult.CarriedValue {
        .init(name: name, json: try json(prompt))
    }
}

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

/// Writes one output from beginning to end. The same calls give the same bytes.
package protocol ResultEncoder {
    /// Whether results are held back until the last one of their line.
    var isHolding: Bool { get }

    /// Appends the text before the first result. Called once, even without results.
    mutating func begin(_ output: inout [UInt8])

    /// Appends one result, to the end of its line.
    mutating func append(_ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8])

    /// Appends the text after the last result. Called once, even without results.
    mutating func end(_ output: inout [UInt8])
}

extension ResultEncoder {
    package var isHolding: Bool { false }
    package mutating func begin(_ output: inout [UInt8]) {}
    package mutating func end(_ output: inout [UInt8]) {}
}

/// The formats that outputs can have.
package enum ResultFormats {
    package static let all: [any ResultFormat] = [
        NativeResults(), JSONArrayResults(), OpenAIResults(), DelimitedOutput.csv, DelimitedOutput.tsv,
        ParquetResults(),
    ]

    package static func named(_ name: String) -> (any ResultFormat)? { all.first { $0.name == name } }

    /// The default format of an output.
    package static let standard: any ResultFormat = NativeResults()
}
