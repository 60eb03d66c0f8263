/// Putting the output in place.
extension JournalStore {
    /// Whether the output that is there is already, line for line, what would be written.
    func isUnchanged() throws -> Bool {
        guard journal == nil, earlierOutput != nil, outputIsAsWritten, positions.count == earlierOutputLines
        else {
            return false
        }
        return try (0..<positions.count).allSatisfy { position in
            let entry = try index[position]
            return try positions[position] == position && entry.isStored && entry.isInOutput
        }
    }

    /// Writes all results in input order to a file of its own, brings it to the disk, and renames it. What would
    /// be lost of an earlier output stays under another name.
    func writeOutput() throws {
        let draft = try place.makeDraft()
        do {
            try writeResults(to: draft)
            if try isInPlace(draft) {
                try draft.remove()
            } else {
                try place.replace(with: draft) { try keepEarlierOutput() }
            }
        } catch {
            // Not if it is the output already.
            if draft.path == paths.draft { try? draft.remove() }
            throw error
        }
        if hasKeptOutput { warnings += keptOutputs.removeOldest(but: keptOutputCount) }
    }

    /// Whether the output is the draft, byte for byte: a run was ended before it could remove its journal.
    private func isInPlace(_ draft: File) throws -> Bool {
        guard let there = try system.infoIfPresent(paths.output), there.size == (try draft.info().size),
            let output = try File.openIfPresent(paths.output, .read, in: system)
        else { return false }
        var buffers = [[UInt8]](repeating: [UInt8](repeating: 0, count: 1 << 20), count: 2)
        var offset = 0
        while offset < there.size {
            let count = try buffers[0].withUnsafeMutableBytes { try draft.read(into: $0, at: offset) }
            let other = try buffers[1].withUnsafeMutableBytes { try output.read(into: $0, at: offset) }
            guard count > 0, count == other, buffers[0][..<count] == buffers[1][..<count] else {
                return false
            }
            offset += count
        }
        return true
    }

    /// Only after the output is safely in place.
    func removeJournal() throws {
        try keepJournal()
        if let inFlight, let there = try system.entryIfPresent(paths.inFlight), there.isSameFile(as: inFlight)
        {
            try system.removeIfPresent(paths.inFlight)
        }
        try journal?.remove()
        journal = nil
    }

    private func writeResults(to draft: File) throws {
        var writer = BufferedWriter(draft)
        let batch = RecordBatch(journal: journal, output: earlierOutput, countLimit: residentCount)
        var sums = OutputSums()
        var written = 0
        func writeBatch() throws {
            try batch.forEachLine { entry, line in
                guard let record = self.record(in: line, of: entry) else {
                    throw changedUnderneath(entry.isInOutput ? paths.output : paths.journal)
                }
                try writer.withBuffer { bytes in
                    let start = bytes.count
                    record.appendOutput(
                        from: line, index: written / samples, showsSample: samples > 1, to: &bytes)
                    sums.seal(&bytes, from: start, like: record)
                    bytes.append(0x0a)
                }
                written += 1
            }
        }
        for position in 0..<positions.count {
            let entry = try index[Int(positions[position])]
            precondition(entry.isStored, "every position is done")
            if !batch.hasRoom(for: entry) { try writeBatch() }
            batch.add(entry)
        }
        try writeBatch()
        try writer.flush()
    }

    /// The record again, checked again: disks and people change files while runs take days.
    private func record(in line: UnsafeRawBufferPointer, of entry: ResultIndex.Entry) -> RecordLine? {
        let record: RecordLine?
        if entry.isInOutput {
            var ignored = 0
            record = RecordLine(output: line, index: &ignored)
        } else {
            record = SealedLine.isValid(line) ? RecordLine(journal: line) : nil
        }
        return record?.contentHash == entry.contentHash ? record : nil
    }
}
