import Faults

/// The output of an earlier run: what of it counts, and how its results are had again.
package final class EarlierOutput {
    /// What the index's entries point into: the output, or its record.
    let source: File
    package let outcome: OutputOutcome
    /// Nil where the output needs no record.
    private let record: (output: RecordedOutput, header: OutputRecord.Header)?
    private let format: any ResultFormat

    /// Reads what is there into an index.
    /// - Parameters:
    ///   - record: the output's record, where its format needs one.
    ///   - accepts: whether results of a run count, by its digest.
    package init(
        _ output: File, record: File?, format: any ResultFormat, run: ResultRun, index: ResultIndex,
        accepts: (String) throws -> Bool
    ) throws {
        self.format = format
        guard let record else {
            precondition(format is NativeResults, "an output that is no record of itself has one")
            (self.record, source) = (nil, output)
            outcome = try OutputOutcome(output, into: index, run: run, accepts: accepts)
            return
        }
        guard case .valid(let header) = try OutputRecord.header(of: record) else {
            preconditionFailure("a record is looked at before")
        }
        let recorded = RecordedOutput(record: record, output: output, format: format)
        (self.record, source) = ((recorded, header), record)
        outcome =
            try accepts(header.run)
            ? try recorded.results(into: index, of: header)
            : OutputOutcome(lines: 1, foreign: 1, isInOrder: false)
    }

    /// What stands there; nil if that is nothing, or nothing that counts.
    package static func find(
        at paths: OutputPaths, _ format: any ResultFormat, into index: ResultIndex, in system: any FileSystem,
        accepts: (String) throws -> Bool
    ) throws -> EarlierOutput? {
        guard let info = try system.infoIfPresent(paths.output), info.kind == .regular,
            let file = try File.textIfPresent(paths.output, in: system)
        else { return nil }
        var record: File?
        if paths.keepsRecord {
            record = try OutputRecord.find(for: file, at: paths, in: system).record
            guard let record, case .valid = try OutputRecord.header(of: record) else { return nil }
        }
        return try EarlierOutput(
            file, record: record, format: format, run: ResultRun(digest: "", samples: 1), index: index,
            accepts: accepts)
    }

    /// Whether the output has this very result.
    /// - Parameter known: an entry of the index that is in the output.
    func holds(_ result: GenerationResult, _ known: ResultIndex.Entry) throws -> Bool {
        try source.line(of: known).withUnsafeBytes { try self.result($0, of: known)?.result == result }
    }

    /// A whole result, and whose it is; nil if neither output nor record has it.
    /// - Parameter line: what the entry points to.
    func result(
        _ line: UnsafeRawBufferPointer, of known: ResultIndex.Entry
    ) throws -> (recorded: RecordedResult, result: GenerationResult)? {
        try withKept(line, of: known) { recorded, bytes in
            format.result(recorded, in: bytes).map { (recorded, $0) }
        }
    }

    /// What is wrong with what stands after the last result; nil if nothing is.
    func faultAtEnd() throws -> Message? {
        guard let (recorded, header) = record, !(format is ParquetResults) else { return nil }
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
        guard let (recorded, header) = record else {
            guard let result = NativeLine(line)?.recorded, result.key.contentHash == known.contentHash else {
                throw StoreError.changedUnderneath(source.path)
            }
            return try body(result, line)
        }
        guard SealedLine.isValid(line), let entry = OutputRecord.Entry(line),
            entry.key.contentHash == known.contentHash
        else { throw StoreError.changedUnderneath(source.path) }
        let made = try recorded.bytes(of: entry) { try body(entry.recorded(by: header.run), $0) }
        guard let made else { throw StoreError.changedUnderneath(recorded.output.path) }
        return made
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

extension OutputOutcome {
    /// Reads an output of `NativeResults` into an index.
    /// - Parameter accepts: whether results of a run count, by its digest. Others are passed over, as foreign ones.
    fileprivate init(
        _ file: File, into index: ResultIndex, run: ResultRun, accepts: (String) throws -> Bool
    ) throws {
        let end = try LineScanner(file: file).forEachLine { line in
            lines += 1
            guard line.isWhole, let result = NativeLine(line.bytes)?.recorded, try accepts(result.run) else {
                foreign += 1
                return true
            }
            if let index = result.index, index != run.index(ofPosition: lines - 1) { isInOrder = false }
            index.storeNext(result, at: line.offset, length: line.bytes.count)
            completionTokens += result.completionTokens
            return true
        }
        if end < (try file.info().size) {
            lines += 1
            foreign += 1
        }
    }
}
