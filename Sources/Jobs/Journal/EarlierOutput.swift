import Faults

/// The output of an earlier run: what of it counts, and how its results are had again.
package final class EarlierOutput {
    private enum Kind {
        case selfRecording(any SelfRecordingFormat)
        case recorded(RecordedOutput, OutputRecord.Header)
    }

    /// What the index's entries point into: the output, or its record.
    let source: File
    package let outcome: OutputOutcome
    private let kind: Kind
    private let format: any ResultFormat
    private let run: ResultRun

    /// Reads what is there into an index.
    /// - Parameters:
    ///   - record: the output's record, where its format needs one.
    ///   - accepts: whether results of a run count, by its digest.
    package init(
        _ output: File, record: File?, format: any ResultFormat, run: ResultRun, index: ResultIndex,
        accepts: (String) throws -> Bool
    ) throws {
        self.format = format
        self.run = run
        if let format = format as? any SelfRecordingFormat {
            kind = .selfRecording(format)
            source = output
            outcome = try OutputReader(file: output, format: format).results(
                into: index, run: run, accepts: accepts)
        } else if let record {
            let recorded = RecordedOutput(record: record, output: output, format: format)
            source = record
            guard case .valid(let header) = try OutputRecord.header(of: record) else {
                preconditionFailure("a record is looked at before")
            }
            kind = .recorded(recorded, header)
            if try accepts(header.run) {
                outcome = try recorded.results(into: index, of: header)
            } else {
                outcome = OutputOutcome(lines: 1, foreign: 1, isInOrder: false)
            }
        } else {
            preconditionFailure("an output that is no record of itself has one")
        }
    }

    /// Whether the output has this very result.
    /// - Parameter known: an entry of the index that is in the output.
    func holds(
        _ result: GenerationResult, at place: ResultPlace, _ known: ResultIndex.Entry
    ) throws -> Bool {
        return try source.line(of: known).withUnsafeBytes { line in
            if case .selfRecording(let format) = kind {
                return format.holds(result, in: line, at: place, of: run)
            }
            return try withKept(line, of: known) { recorded, bytes in
                recorded.json == nil
                    ? format.holds(result, in: bytes, at: place, of: run) : recorded.result == result
            }
        }
    }

    /// A whole result; nil if neither output nor record has it.
    /// - Parameter line: what the entry points to.
    func result(_ line: UnsafeRawBufferPointer, of known: ResultIndex.Entry) throws -> GenerationResult? {
        try withKept(line, of: known) { format.result($0, in: $1) }
    }

    /// What is wrong with what stands after the last result; nil if nothing is.
    func faultAtEnd() throws -> Message? {
        guard case .recorded(let recorded, let header) = kind, !(format is ParquetResults) else { return nil }
        let (start, size) = (outcome.end, try recorded.output.info().size)
        guard start <= size, size - start <= SealedLine.maximumLength else { return "is not there" }
        return try recorded.pieces.with(start..<size) {
            format.fault(inEnd: $0, isEmpty: start == header.start.count)
        } ?? nil
    }

    /// A result again, and checked again: disks and people change files while runs take days.
    /// - Parameters:
    ///   - line: what the entry points to.
    ///   - body: gets the result's bytes in the output.
    func withKept<R>(
        _ line: UnsafeRawBufferPointer, of known: ResultIndex.Entry,
        _ body: (RecordedResult, UnsafeRawBufferPointer) throws -> R
    ) throws -> R {
        switch kind {
        case .selfRecording(let format):
            guard let result = format.result(in: line), result.key.contentHash == known.contentHash else {
                throw StoreError.changedUnderneath(source.path)
            }
            return try body(result, line)
        case .recorded(let recorded, let header):
            guard SealedLine.isValid(line), let entry = OutputRecord.Entry(line),
                entry.key.contentHash == known.contentHash
            else { throw StoreError.changedUnderneath(source.path) }
            guard let made = try recorded.bytes(of: entry, { try body(entry.recorded(by: header.run), $0) })
            else {
                throw StoreError.changedUnderneath(recorded.output.path)
            }
            return made
        }
    }
}

/// What an output that an earlier run put in place holds.
package struct OutputOutcome {
    /// Lines, or other results, whatever they hold.
    package var lines = 0
    /// Those that aren't as phibatch writes them, or as it has written them.
    package var foreign = 0
    /// Whether each result is where this run would put it, so far as the output tells.
    var isInOrder = true
    var completionTokens = 0
    /// Where the last result ends, in an output that has a record.
    var end = 0
}

/// Reads an output of a `SelfRecordingFormat` into an index.
struct OutputReader {
    let file: File
    let format: any SelfRecordingFormat

    /// - Parameters:
    ///   - accepts: whether results of a run count, by its digest. Others are passed over, as foreign ones.
    func results(
        into index: ResultIndex, run: ResultRun, accepts: (String) throws -> Bool
    ) throws -> OutputOutcome {
        var outcome = OutputOutcome()
        let end = try LineScanner(file: file).forEachLine { line in
            outcome.lines += 1
            guard line.isWhole, let result = format.result(in: line.bytes) else {
                outcome.foreign += 1
                return true
            }
            guard try accepts(result.run) else {
                outcome.foreign += 1
                return true
            }
            if let index = result.index, index != run.index(ofPosition: outcome.lines - 1) {
                outcome.isInOrder = false
            }
            index.storeNext(result, at: line.offset, length: line.bytes.count)
            outcome.completionTokens += result.completionTokens
            return true
        }
        if end < (try file.info().size) {
            outcome.lines += 1
            outcome.foreign += 1
        }
        return outcome
    }
}
