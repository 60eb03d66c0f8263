/// Reads a journal's records into an index, past whatever is damaged.
struct JournalReader {
    let file: File

    struct Outcome {
        /// Behind the last line feed; what comes after is a torn line.
        var end = 0
        var fileSize = 0
        /// Damaged lines; one that a stray line feed split counts once.
        var damaged = 0
        /// Where they are, together with the line feeds between neighbours.
        var damagedRanges: [Range<Int>] = []
        var failed = 0
        var completionTokens = 0
        /// Results of an output for which the journal has others, as their lines were changed.
        var superseded = 0
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
    func header() throws -> JournalHeader.Reading? {
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
    ///   - run: the digest that records must have; nil takes all.
    ///   - countsTokens: whether to add up the completion tokens, which costs a search in each line.
    ///   - onOtherRun: called with the digest of a record of another run, which is then passed over.
    func records(
        into index: ResultIndex, run: String?, countsTokens: Bool = false,
        onOtherRun: (String) throws -> Void
    ) throws -> Outcome {
        var outcome = Outcome()
        outcome.fileSize = try file.info().size
        var isFirst = true
        var previousWasDamaged = false
        let runBytes = run.map { Array($0.utf8) }
        outcome.end = try LineScanner(file: file).forEachLine { line in
            defer { isFirst = false }
            // What a damaged line leaves once it was blanked out.
            if isFirst || line.bytes.isEmpty { return true }
            var ok = line.isWhole && SealedLine.isValid(line.bytes)
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
                guard parts.count == 1 || SealedLine.isValid(bytes),
                    let record = RecordLine(journal: bytes)
                else {
                    outcome.damaged += 1
                    // With the damaged line feeds around it, but not those that are whole.
                    let whole = line.offset..<line.offset + line.bytes.count
                    outcome.addDamage(at: (offset - 1..<offset + bytes.count + 1).clamped(to: whole))
                    continue
                }
                guard runBytes?.elementsEqual(bytes[record.run]) ?? true else {
                    try onOtherRun(String(decoding: bytes[record.run], as: UTF8.self))
                    outcome.damaged += 1
                    continue
                }
                if try index.store(record, line: bytes, at: offset) { outcome.superseded += 1 }
                if countsTokens { outcome.completionTokens += Self.completionTokens(bytes) }
            }
            return true
        }
        return outcome
    }

    private static func startsRecord(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var cursor = ByteCursor(bytes: bytes)
        return cursor.skip(SealedLine.start)
    }

    /// The line cut before each further place where a record could begin; at most a few, as a line has
    /// none unless it is damaged.
    private static func split(_ line: LineScanner.Line) -> [(Int, UnsafeRawBufferPointer)] {
        var parts: [(Int, UnsafeRawBufferPointer)] = []
        var start = 0
        var searchStart = 1
        while let next = SealedLine.start.firstOffset(in: line.bytes, from: searchStart) {
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

    /// `usage.completion_tokens`; inside a string the name's quotes would be escaped. No completion has more
    /// than 2^31, and what claims to must not make the sum overflow.
    static func completionTokens(_ bytes: UnsafeRawBufferPointer) -> Int {
        let name: StaticString = "\"completion_tokens\":"
        guard let hit = name.firstOffset(in: bytes, anchor: 11) else { return 0 }
        var cursor = ByteCursor(bytes: bytes, position: hit + name.utf8CodeUnitCount)
        return min(cursor.decimal() ?? 0, Int(Int32.max))
    }
}

/// Reads an output that an earlier run put in place into an index.
struct OutputReader {
    let file: File

    struct Outcome {
        var lines = 0
        /// Lines that aren't as phibatch writes them.
        var foreign = 0
        /// Whether each line's index is its place (divided by the samples of a line).
        var isInOrder = true
        var completionTokens = 0
    }

    /// - Parameter onOtherRun: called with the digest of a line of another run, which is passed over.
    func results(
        into index: ResultIndex, run: String?, samples: Int, countsTokens: Bool = false,
        onOtherRun: (String) throws -> Void
    ) throws -> Outcome {
        var outcome = Outcome()
        let runBytes = run.map { Array($0.utf8) }
        let end = try LineScanner(file: file).forEachLine { line in
            var number = 0
            outcome.lines += 1
            guard line.isWhole, let record = RecordLine(output: line.bytes, index: &number) else {
                outcome.foreign += 1
                return true
            }
            if let runBytes, !runBytes.elementsEqual(line.bytes[record.run]) {
                try onOtherRun(String(decoding: line.bytes[record.run], as: UTF8.self))
                outcome.foreign += 1
                return true
            }
            if number != (outcome.lines - 1) / samples { outcome.isInOrder = false }
            try index.storeNext(record, line: line.bytes, at: line.offset)
            if countsTokens { outcome.completionTokens += JournalReader.completionTokens(line.bytes) }
            return true
        }
        if end < (try file.info().size) {
            outcome.lines += 1
            outcome.foreign += 1
        }
        return outcome
    }
}

extension ResultIndex {
    /// A record of the journal: replaces what was known before.
    /// - Returns: whether that was a result in the output, for another content of the line.
    fileprivate func store(
        _ record: RecordLine, line: UnsafeRawBufferPointer, at offset: Int
    ) throws -> Bool {
        let name = Self.nameHash(
            id: UnsafeRawBufferPointer(rebasing: line[record.id]), sample: record.sample,
            repetition: record.repetition)
        var entry = Entry(
            nameHash: name, contentHash: record.contentHash, repetition: record.repetition)
        entry.store(at: offset, length: line.count, failed: record.failed, inOutput: false)
        guard let number = try find(name) else {
            _ = try insert(entry)
            return false
        }
        let known = try self[number]
        try set(number, entry)
        return known.isInOutput && !known.isFailed && known.contentHash != entry.contentHash
    }

    /// A line of an output, where the same id again is a repetition.
    fileprivate func storeNext(_ record: RecordLine, line: UnsafeRawBufferPointer, at offset: Int) throws {
        let id = UnsafeRawBufferPointer(rebasing: line[record.id])
        var name = Self.nameHash(id: id, sample: record.sample, repetition: 0)
        var repetition = 0
        if try find(name) != nil {
            func repeated(_ repetition: Int) -> UInt64 {
                Self.nameHash(id: id, sample: record.sample, repetition: repetition)
            }
            repetition = try nextRepetition(of: name) { try find(repeated($0)) != nil }
            name = repeated(repetition)
        }
        var entry = Entry(nameHash: name, contentHash: record.contentHash, repetition: repetition)
        entry.store(at: offset, length: line.count, failed: record.failed, inOutput: true)
        _ = try insert(entry)
    }
}
