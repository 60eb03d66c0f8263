import Faults

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
}

extension ResultFormat {
    /// A whole result of an output, from the record if that has it; nil if neither has.
    func result(_ recorded: RecordedResult, in piece: UnsafeRawBufferPointer) -> GenerationResult? {
        recorded.json == nil ? generationResult(in: piece) : recorded.result
    }

    /// What is wrong with a piece of an output: as `fault(in:at:of:kept:)` says, and where the record has the result, it
    /// must be what this format writes of that.
    /// - Parameter index: the place of its line in the input.
    func fault(
        in piece: UnsafeRawBufferPointer, _ recorded: RecordedResult, index: Int, of run: ResultRun,
        kept: [GenerationResult.KeptValue]?
    ) -> Message? {
        var place = ResultPlace(key: recorded.key, index: index)
        place.run = recorded.run
        if recorded.json == nil { return fault(in: piece, at: place, of: run, kept: kept) }
        guard let result = recorded.result, result.isFailed == recorded.isFailed,
            result.completionTokens == recorded.completionTokens
        else { return "has a damaged result in the record" }
        func isOfLine(_ value: GenerationResult.KeptValue) -> Bool { value.name != carried?.name }
        if let kept, kept.filter(isOfLine) != result.kept.filter(isOfLine) { return Self.otherFields }
        var encoder = base.makeEncoder(for: run)
        var (start, again): ([UInt8], [UInt8]) = ([], [])
        encoder.begin(&start)
        encoder.append(result, at: place, to: &again)
        if again.isEmpty { return piece.isEmpty ? nil : "should be left out, and is there all the same" }
        return again.withUnsafeBytes { again in content(of: again).flatMap { Self.difference(piece, $0) } }
    }
}
