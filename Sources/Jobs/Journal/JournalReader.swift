/// Reads a journal's records into an index, past whatever is damaged.
package struct JournalReader {
    let file: File

    package init(file: File) { self.file = file }

    package struct Outcome {
        /// After the last line feed; what comes after is a torn line.
        var end = 0
        var fileSize = 0
        /// Damaged lines; one that a stray line feed split counts once.
        var damaged = 0
        /// Where they are, together with the line feeds between neighbours.
        var damagedRanges: [Range<Int>] = []
        var completionTokens = 0
        /// Results of an output for which the journal has others, as their lines were changed.
        var superseded = 0
        /// By what results were chosen that are to be made again; nil if none are.
        var redo: UInt64?
        var isTorn: Bool { end < fileSize }

        fileprivate mutating func addDamage(at range: Range<Int>) {
            if let last = damagedRanges.last, range.lowerBound <= last.upperBound + 1 {
                damagedRanges[damagedRanges.count - 1] = last.lowerBound..<range.upperBound
            } else {
                damagedRanges.append(range)
            }
        }
    }

    /// The header line, or nil if there is no whole line.
    package func header() throws -> JournalHeader.Reading? {
        var reading: JournalHeader.Reading?
        var isWhole = false
        try LineScanner(file: file).forEachLine { line in
            isWhole = true
            reading = line.isWhole ? JournalHeader.read(line.bytes) : .damaged
            return false
        }
        return isWhole ? reading ?? .damaged : nil
    }

    /// - Parameters:
    ///   - isOutput: the file is the log of a finished output.
    ///   - accepts: whether results of a run count, by its digest. Others are passed over, and count as damage.
    package func records(
        into index: ResultIndex, isOutput: Bool = false, accepts: (String) throws -> Bool
    ) throws -> Outcome {
        var outcome = Outcome()
        outcome.fileSize = try file.info().size
        var isFirst = true
        var previousWasDamaged = false
        outcome.end = try LineScanner(file: file).forEachLine { line in
            defer { isFirst = false }
            // What a damaged line leaves once it was blanked out.
            if isFirst || line.bytes.isEmpty { return true }
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
                guard isValid, let record = JournalRecord(bytes, keeps: false) else {
                    if isValid, let mark = RedoMark(bytes) {
                        outcome.redo = mark.choice
                        if index.forget(mark.key) { outcome.superseded += 1 }
                        continue
                    }
                    if isValid, isOutput, OutputLog.End(bytes) != nil { continue }
                    outcome.damaged += 1
                    // With the damaged line feeds around it, but not those that are whole.
                    let whole = line.offset..<line.offset + line.bytes.count
                    outcome.addDamage(at: (offset - 1..<offset + bytes.count + 1).clamped(to: whole))
                    continue
                }
                guard try accepts(record.run) else {
                    outcome.damaged += 1
                    continue
                }
                if index.store(record, at: offset, length: bytes.count, inOutput: isOutput) {
                    outcome.superseded += 1
                }
                outcome.completionTokens += record.result.completionTokens
            }
            return true
        }
        return outcome
    }

    private static func startsRecord(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var cursor = ByteCursor(bytes: bytes)
        return cursor.skip(ChecksummedLine.start)
    }

    /// The line cut before each further place where a record could begin; at most a few, as a line has
    /// none unless it is damaged.
    private static func split(_ line: LineScanner.Line) -> [(Int, UnsafeRawBufferPointer)] {
        var parts: [(Int, UnsafeRawBufferPointer)] = []
        var start = 0
        var searchStart = 1
        while let next = ChecksummedLine.start.firstOffset(in: line.bytes, from: searchStart) {
            // One byte between them stood where the line feed was.
            parts.append(
                (
                    line.offset + start,
                    UnsafeRawBufferPointer(rebasing: line.bytes[start..<max(start, next - 1)])
                ))
            start = next
            searchStart = next + 1
        }
        parts.append((line.offset + start, UnsafeRawBufferPointer(rebasing: line.bytes[start...])))
        return parts
    }
}
