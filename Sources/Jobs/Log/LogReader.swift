/// Reads a log's records into an index, past whatever is damaged.
package struct LogReader {
    let file: File
    /// Offset from which the records are read.
    var start = 0
    /// The file is the packed part of a log.
    var isOutput = false

    package struct Outcome {
        /// After the last line feed; what comes after is a torn line.
        var end = 0
        var fileSize = 0
        /// Damaged lines; one that a stray line feed split counts once.
        package var damaged = 0
        /// Offsets of the damaged lines, with the line feeds between neighbours.
        var damagedRanges: [Range<Int>] = []
        var completionTokens = 0
        /// Results of an output for which the log has others, as their lines were changed.
        var superseded = 0
        /// By what results were chosen that are to be made again; nil if none are.
        var redo: UInt64?
        fileprivate var redoMarks: [ResultKey] = []
        /// Completions under way when they were last saved.
        package var inFlight: [ResultKey: InFlightRecord] = [:]
        /// Progress that the latest run saved last.
        var progress: JobProgress?
        var isTorn: Bool { end < fileSize }

        fileprivate mutating func addDamage(at range: Range<Int>) {
            if let last = damagedRanges.last, range.lowerBound <= last.upperBound + 1 {
                damagedRanges[damagedRanges.count - 1] = last.lowerBound..<range.upperBound
            } else {
                damagedRanges.append(range)
            }
        }
    }

    /// - Parameter accepts: whether results of a run count, by its digest. Others are passed over, and count as damage.
    func records(into index: ResultIndex, accepts: (String) throws -> Bool) throws -> Outcome {
        var outcome = Outcome()
        outcome.fileSize = try file.info().size
        var previousWasDamaged = false
        var run: String?
        outcome.end = try LineScanner(file: file).forEachLine(from: start) { line in
            // A damaged line that was blanked out.
            if line.bytes.isEmpty { return true }
            var ok = line.isWhole && ChecksummedLine.isValid(line.bytes)
            var parts = [(line.offset, line.bytes)]
            if !ok, line.isWhole {
                // A damaged line feed joins two lines; both may be whole.
                parts = Self.split(line)
                ok = parts.count > 1
            }
            if !ok {
                let continues = previousWasDamaged && !Self.startsRecord(line.bytes)
                if !continues { outcome.damaged += 1 }
                previousWasDamaged = true
                if line.isWhole { outcome.addDamage(at: line.offset..<line.offset + line.bytes.count) }
                return true
            }
            previousWasDamaged = false
            for (offset, bytes) in parts {
                let isValid = parts.count == 1 || ChecksummedLine.isValid(bytes)
                if isValid, try take(bytes, at: offset, into: index, &outcome, run: &run, accepts) {
                    continue
                }
                outcome.damaged += 1
                // With the damaged line feeds around it, but not those that are whole. A result that doesn't count is as it was
                // written.
                if isValid, RecordHead(bytes) != nil { continue }
                let whole = line.offset..<line.offset + line.bytes.count
                outcome.addDamage(at: (offset - 1..<offset + bytes.count + 1).clamped(to: whole))
            }
            return true
        }
        return outcome
    }

    /// Takes a record.
    /// - Parameters:
    ///   - bytes: a line whose sum is right.
    ///   - run: digest of the run that wrote it.
    /// - Returns: false if it is none, or a result that doesn't count.
    private func take(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, into index: ResultIndex, _ outcome: inout Outcome,
        run: inout String?, _ accepts: (String) throws -> Bool
    ) throws -> Bool {
        if ChecksummedLine.begins(bytes, LogHeader.marker) {
            guard let header = LogHeader(bytes) else { return false }
            // Completions under other settings can't go on.
            if let run, run != header.fingerprint.digest { outcome.inFlight = [:] }
            run = header.fingerprint.digest
            outcome.redoMarks = []
        } else if ChecksummedLine.begins(bytes, InFlightRecord.marker) {
            return InFlightRecord.read(bytes, into: &outcome.inFlight)
        } else if ChecksummedLine.begins(bytes, JobProgress.marker) {
            guard let progress = JobProgress(bytes) else { return false }
            outcome.progress = progress
        } else if ChecksummedLine.begins(bytes, RedoMark.marker) {
            guard let key = RedoMark.key(bytes) else { return false }
            outcome.redoMarks.append(key)
        } else if ChecksummedLine.begins(bytes, RedoMark.endMarker) {
            guard let end = RedoMark.end(bytes), end.count == outcome.redoMarks.count else { return false }
            outcome.redo = end.choice
            for key in outcome.redoMarks where index.forget(key) { outcome.superseded += 1 }
        } else if isOutput, ChecksummedLine.begins(bytes, OutputLog.End.marker) {
            return OutputLog.End(bytes) != nil
        } else {
            guard let record = RecordHead(bytes), try accepts(record.run) else {
                return false
            }
            if index.store(record, at: offset, length: bytes.count, inOutput: isOutput) {
                outcome.superseded += 1
            }
            if !outcome.inFlight.isEmpty { outcome.inFlight[record.key] = nil }
            outcome.completionTokens += record.completionTokens
        }
        return true
    }

    private static func startsRecord(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var cursor = ByteCursor(bytes: bytes)
        return cursor.skip(ChecksummedLine.start)
    }

    /// The line cut before each further place where a record could begin; at most a few, as a line has
    /// none unless it is damaged.
    private static func split(_ line: LineScanner.Line) -> [(Int, UnsafeRawBufferPointer)] {
        var starts = [0]
        while let next = ChecksummedLine.start.firstOffset(in: line.bytes, from: starts[starts.count - 1] + 1)
        {
            starts.append(next)
        }
        // One byte between them stood where the line feed was.
        let ends = starts.dropFirst().map { $0 - 1 } + [line.bytes.count]
        return zip(starts, ends).map { start, end in
            (line.offset + start, UnsafeRawBufferPointer(rebasing: line.bytes[start..<max(start, end)]))
        }
    }
}
