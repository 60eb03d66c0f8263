import Faults
import PhiText

/// How results look in an output. A format is one file in this folder and one line in `ResultFormats.all`.
///
/// The journal stores results whatever the format, so a format says nothing of how a run is taken up. A finished
/// output has no journal any more: what it holds is known by its record (`OutputRecord`), a file beside it, unless
/// it has `NativeResults`: lines that have all by which a result is known again.
package protocol ResultFormat: Sendable {
    var name: String { get }

    /// All samples of a line make one piece of the output, which stands with the last of them.
    var isByLine: Bool { get }

    /// What single results look like, where the format is of a part of them only.
    var base: any ResultFormat { get }

    /// The format that this one is made with, and as it is in all that it says nothing of; nil, the default, if none.
    var inner: (any ResultFormat)? { get }

    /// The output's record has results in full, as a piece may lack some of one. Where pieces are those of `NativeResults`,
    /// it has those alone that are in the file of failed lines.
    var recordsResults: Bool { get }

    /// Whether it has nothing of a result, which the output's record then has. By default it has something of all.
    func leavesOut(_ result: GenerationResult) -> Bool

    /// The same with what `results` of a job says; nil, the default, if it has no place for that.
    func showing(_ detail: ResultDetail) -> (any ResultFormat)?

    /// What results carry for it of what was asked; nil, the default, if it needs nothing of that.
    var carried: CarriedPrompt? { get }

    /// What of a job it has no way to write; nil if there is nothing.
    func problem(with job: JobSettings) -> String?

    /// The same, for an output that has this before its first result.
    func beginning(with start: [UInt8]) -> any ResultFormat

    func makeEncoder(for run: ResultRun) -> any ResultEncoder

    /// What names of outputs end in that are of this format, without the dot.
    var nameEnds: [String] { get }

    /// A piece without what sets it apart from others; nil if it lacks that.
    func content(of piece: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer?

    /// Whether a piece is set apart from the one before it as it should be.
    func isSetApart(_ piece: UnsafeRawBufferPointer, isFirst: Bool) -> Bool

    /// What is wrong with what stands after the last result; nil if nothing is, or nobody can say.
    /// - Parameter isEmpty: there is no piece.
    func fault(inEnd end: UnsafeRawBufferPointer, isEmpty: Bool) -> Message?

}

extension ResultFormat {
    package var isByLine: Bool { inner?.isByLine ?? false }
    package var base: any ResultFormat { self }
    package var inner: (any ResultFormat)? { nil }
    package var recordsResults: Bool { inner?.recordsResults ?? true }
    package func leavesOut(_ result: GenerationResult) -> Bool { inner?.leavesOut(result) ?? false }
    package func showing(_ detail: ResultDetail) -> (any ResultFormat)? { nil }
    package var carried: CarriedPrompt? { inner?.carried }
    package func problem(with job: JobSettings) -> String? { inner?.problem(with: job) }
    package func beginning(with start: [UInt8]) -> any ResultFormat { self }
    package var nameEnds: [String] { inner?.nameEnds ?? [] }

    package func content(of piece: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        if let inner { return inner.content(of: piece) }
        return piece.last == 0x0A ? UnsafeRawBufferPointer(rebasing: piece.dropLast()) : nil
    }

    package func isSetApart(_ piece: UnsafeRawBufferPointer, isFirst: Bool) -> Bool {
        inner?.isSetApart(piece, isFirst: isFirst) ?? true
    }

    package func fault(inEnd end: UnsafeRawBufferPointer, isEmpty: Bool) -> Message? {
        if let inner { return inner.fault(inEnd: end, isEmpty: isEmpty) }
        return end.isEmpty ? nil : "should be nothing, and is \(counted(end.count, "byte"))"
    }

    static var otherFields: Message { "does not carry the fields that the line has" }

    /// Where a piece is not what would be written of it; nil if it is.
    static func difference(
        _ piece: UnsafeRawBufferPointer, _ again: some Collection<UInt8>
    ) -> Message? {
        if piece.elementsEqual(again) { return nil }
        let same = zip(piece, again).prefix { $0 == $1 }.count
        return
            "is not as phibatch writes it from byte \(same + 1) on: a member twice, white space, or the like"
    }

    /// What stands before the first result.
    package func start(of run: ResultRun) -> [UInt8] {
        var start: [UInt8] = []
        var encoder = makeEncoder(for: run)
        encoder.begin(&start)
        return start
    }

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

    func value(of prompt: Prompt) throws(LineError) -> GenerationResult.KeptValue {
        .init(name: name, json: try json(prompt))
    }
}

/// What all results of an output have in common.
package struct ResultRun: Sendable {
    /// The digest of the run's fingerprint.
    package var digest: String
    /// How many results a line has.
    package var samples: Int
    /// The lines that it is of.
    package var selection: LineSelection = .all

    /// The place in the input of the line that a result is of.
    /// - Parameter position: of the result in the output, from 0.
    func index(ofPosition position: Int) -> Int { selection.place(of: position / samples) }
}

/// Where a result stands in an output, and whose it is.
package struct ResultPlace: Sendable {
    package var key: WorkKey
    /// The line's place among the input's lines that are not blank, from 0.
    package var index: Int
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

    /// Appends a result as an earlier output of this format has it.
    /// - Parameter bytes: all that was appended for it then.
    mutating func append(kept bytes: UnsafeRawBufferPointer, at place: ResultPlace, to output: inout [UInt8])

    /// Appends what stands after the last result. Called once, even if there are no results.
    mutating func end(_ output: inout [UInt8])
}

extension ResultEncoder {
    package var isHolding: Bool { false }
    package mutating func begin(_ output: inout [UInt8]) {}
    package mutating func end(_ output: inout [UInt8]) {}

    /// Right where nothing in a result depends on its place.
    package mutating func append(
        kept bytes: UnsafeRawBufferPointer, at place: ResultPlace, to output: inout [UInt8]
    ) {
        output.append(contentsOf: bytes)
    }
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

/// A result of a finished output: whose it is, and what must be known of it to go on.
package struct RecordedResult {
    package var key: WorkKey
    /// Its line's place in the output; nil if the output doesn't say.
    package var index: Int?
    /// The digest of the run's fingerprint.
    package var run: String
    package var isFailed: Bool
    package var completionTokens: Int
    /// The whole result, where the output's record has it (`ResultFormat.recordsResults`).
    var json: String?

    /// What `json` says; nil if that is no result.
    var result: GenerationResult? {
        guard var json else { return nil }
        return json.withUTF8 { ResultCoding.result(in: UnsafeRawBufferPointer($0)) }
    }

    /// Whether another one's record says that the same came of it.
    package func hasSame(_ other: RecordedResult) -> Bool {
        guard let own = result, let others = other.result else { return false }
        return own.content == others.content
    }

    /// Whether the output has nothing of it, as it should be.
    package func isLeftOut(by format: any ResultFormat) -> Bool { result.map(format.leavesOut) ?? false }

    /// Whether it is in the file of failed lines, and not in the output.
    func isApart(in format: any ResultFormat) -> Bool { isFailed && format is PartOfResults }
}

extension ResultFormat {
    /// A whole result of an output, from the record if that has it; nil if neither has.
    /// - Parameter piece: with or without what sets it apart from others.
    func result(_ recorded: RecordedResult, in piece: UnsafeRawBufferPointer) -> GenerationResult? {
        if recorded.json != nil { return recorded.result }
        let isBare = piece.first == UInt8(ascii: "{")
        return (isBare ? NativeLine.withoutLineFeed(piece) : content(of: piece)).flatMap(NativeLine.result)
    }

    /// What a piece's content says but for times, which differ from run to run; nil if it is none of this format.
    package func lasting(in piece: UnsafeRawBufferPointer) -> [UInt8]? {
        if recordsResults { return Array(piece) }
        return NativeLine.result(in: piece).map { Array(ResultCoding.text(of: $0.withoutTiming).utf8) }
    }

    /// What is wrong with a piece of an output, whatever its answer: it must be what this format writes of the results that
    /// the record has, or of some result there if it has none.
    /// - Parameters:
    ///   - piece: its content.
    ///   - line: the results that it has; several only where those of a line make one piece.
    ///   - index: the place of their line in the input.
    ///   - kept: the fields that the line has for it; nil if that is not known.
    /// - Returns: nil if nothing is wrong.
    func fault(
        in piece: UnsafeRawBufferPointer, _ line: [RecordedResult], index: Int, of run: ResultRun,
        kept: [GenerationResult.KeptValue]?
    ) -> Message? {
        func isOfLine(_ value: GenerationResult.KeptValue) -> Bool {
            value.name != carried?.name && value.name != OpenAIRequest.keptName
        }
        let written = (base as? OpenAIResults)?.named(by: piece) ?? base
        var encoder = written.makeEncoder(for: run)
        var (start, again): ([UInt8], [UInt8]) = ([], [])
        encoder.begin(&start)
        let results = line.map(\.result)
        for (recorded, result) in zip(line, results) {
            var place = ResultPlace(key: recorded.key, index: index)
            place.run = recorded.run
            if !recordsResults, !piece.isEmpty {
                return NativeResults().fault(in: piece, at: place, of: run, kept: kept)
            }
            guard let result, results.contains(where: { $0?.isFailed == true }) == recorded.isFailed,
                result.completionTokens == recorded.completionTokens
            else { return "has a damaged result in the record" }
            if let kept, kept.filter(isOfLine) != result.kept.filter(isOfLine) { return Self.otherFields }
            encoder.append(result, at: place, to: &again)
        }
        if piece.isEmpty, line.last?.isApart(in: self) == true { return nil }
        if again.isEmpty { return piece.isEmpty ? nil : "should be left out, and is there all the same" }
        return again.withUnsafeBytes { again in content(of: again).flatMap { Self.difference(piece, $0) } }
    }
}
