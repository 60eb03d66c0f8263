import Errors
import PhiText

/// How results look in an output. A format is one file in this folder and one line in `ResultFormats.all`.
///
/// A format only writes: what an output holds is known by its log.
package protocol ResultFormat: Sendable {
    var name: String { get }

    /// All samples of a line make one piece of the output, which stands with the last of them.
    var isByLine: Bool { get }

    /// What single results look like, where the format is of a part of them only.
    var base: any ResultFormat { get }

    /// The format that this one is made with, and as it is in all that it says nothing of; nil, the default, if none.
    var inner: (any ResultFormat)? { get }

    /// The same with what `results` of a job says; nil, the default, if it has no place for that.
    func showing(_ detail: ResultDetail) -> (any ResultFormat)?

    /// What results carry for it of what was asked; nil, the default, if it needs nothing of that.
    var carried: CarriedPrompt? { get }

    /// What of a job it has no way to write; nil if there is nothing.
    func problem(with job: JobSettings) -> String?

    /// Text by which the log says how a job has laid the format out, such as names of columns; empty by default.
    var layout: String { get }

    /// The same, laid out so.
    func having(layout: String) -> any ResultFormat

    func makeEncoder(for run: ResultRun) -> any ResultEncoder

    /// What names of outputs end in that are of this format, without the dot.
    var nameEnds: [String] { get }
}

extension ResultFormat {
    package var isByLine: Bool { inner?.isByLine ?? false }
    package var base: any ResultFormat { self }
    package var inner: (any ResultFormat)? { nil }
    package func showing(_ detail: ResultDetail) -> (any ResultFormat)? { nil }
    package var carried: CarriedPrompt? { inner?.carried }
    package func problem(with job: JobSettings) -> String? { inner?.problem(with: job) }
    package var layout: String { inner?.layout ?? "" }
    package func having(layout: String) -> any ResultFormat { self }
    package var nameEnds: [String] { inner?.nameEnds ?? [] }

    /// An output without results.
    func empty(of run: ResultRun) -> [UInt8] {
        var empty: [UInt8] = []
        var encoder = makeEncoder(for: run)
        encoder.begin(&empty)
        encoder.end(&empty)
        return empty
    }
}

/// What a result carries of what was asked, beside the fields that are kept of its line.
package struct CarriedPrompt: Sendable {
    /// Under this name.
    let name: String
    /// As JSON. It throws where a prompt has no place in the output.
    let json: @Sendable (Prompt) throws(LineError) -> String

    func value(of prompt: Prompt) throws(LineError) -> GenerationResult.CarriedValue {
        .init(name: name, json: try json(prompt))
    }
}

/// What all results of an output have in common.
package struct ResultRun: Sendable {
    /// The digest of the run's fingerprint.
    package var digest: String
    /// How many results a line has.
    package var samples: Int
}

/// Whose a result is.
package struct ResultPlace: Sendable {
    package var key: WorkKey
    /// The digest of the run that made it, if it is another than the output's.
    package var run: String?
}

/// Writes one output, from its beginning to its end. The same calls give the same bytes.
package protocol ResultEncoder {
    /// Results are held back until the last one of their line comes.
    var isHolding: Bool { get }

    /// Appends what stands before the first result. Called once, even if there are no results.
    mutating func begin(_ output: inout [UInt8])

    /// Appends one result, to the end of its line.
    mutating func append(_ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8])

    /// Appends what stands after the last result. Called once, even if there are no results.
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
        NativeResults(), JSONArrayResults(), OpenAIResults(), DelimitedResults.csv, DelimitedResults.tsv,
        ParquetResults(),
    ]

    package static func named(_ name: String) -> (any ResultFormat)? { all.first { $0.name == name } }

    /// What an output has where nothing else is said.
    package static let standard: any ResultFormat = NativeResults()
}
