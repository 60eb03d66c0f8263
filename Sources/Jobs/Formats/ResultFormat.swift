import Faults

/// How results look in an output. A format is one file in this folder and one line in `ResultFormats.all`.
///
/// The journal stores results whatever the format, so a format says nothing of how a run is taken up. A finished
/// output has no journal any more: what it holds is known by its record (`OutputRecord`), a file beside it, unless
/// the format is a `SelfRecordingFormat`.
package protocol ResultFormat: Sendable {
    var name: String { get }

    /// All samples of a line make one piece of the output, which stands with the last of them.
    var isByLine: Bool { get }

    /// What single results look like, where the format is of a part of them only.
    var base: any ResultFormat { get }

    /// What of a job it has no way to write; nil if there is nothing.
    func problem(with job: JobSettings) -> String?

    /// The same, for an output that has this before its first result.
    func beginning(with start: [UInt8]) -> any ResultFormat

    func makeEncoder(for run: ResultRun) -> any ResultEncoder

    /// Whether a piece of an output may have line feeds within quotes.
    var quotesLineFeeds: Bool { get }

    /// What is wrong with a piece of an output, whatever its answer: it must be, byte for byte, what this format writes
    /// of some result there.
    /// - Parameters:
    ///   - piece: without its line feed; of a line with several results where they make one piece.
    ///   - place: of the last result in it.
    ///   - kept: the fields that the line has for it; nil if that is not known.
    /// - Returns: nil if nothing is wrong, or nobody can say.
    func fault(
        in piece: UnsafeRawBufferPointer, at place: ResultPlace, of run: ResultRun,
        kept: [GenerationResult.KeptValue]?
    ) -> Message?
}

extension ResultFormat {
    package var isByLine: Bool { false }
    package var base: any ResultFormat { self }
    package func problem(with job: JobSettings) -> String? { nil }
    package func beginning(with start: [UInt8]) -> any ResultFormat { self }
    package var quotesLineFeeds: Bool { false }

    package func fault(
        in piece: UnsafeRawBufferPointer, at place: ResultPlace, of run: ResultRun,
        kept: [GenerationResult.KeptValue]?
    ) -> Message? { nil }

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
}

/// What all results of an output have in common.
package struct ResultRun: Sendable {
    /// The digest of the run's fingerprint.
    package var digest: String
    /// How many results a line has.
    package var samples: Int
    /// The lines that it is of.
    package var selection: LineSelection

    package init(digest: String, samples: Int, selection: LineSelection = .all) {
        self.digest = digest
        self.samples = samples
        self.selection = selection
    }

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

    package init(key: WorkKey, index: Int) {
        self.key = key
        self.index = index
    }
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
}

extension ResultEncoder {
    package var isHolding: Bool { false }
    package mutating func begin(_ output: inout [UInt8]) {}

    /// Right where nothing in a result depends on its place.
    package mutating func append(
        kept bytes: UnsafeRawBufferPointer, at place: ResultPlace, to output: inout [UInt8]
    ) {
        output.append(contentsOf: bytes)
    }
}
