/// Putting the output in place.
extension JournalStore {
    /// Whether the output that is there is already, line for line, what would be written.
    var isUnchanged: Bool {
        guard journal == nil, earlierOutput != nil, outputIsAsWritten, positions.count == earlierOutputLines
        else {
            return false
        }
        return positions.indices.allSatisfy {
            positions[$0] == $0 && index.entries[$0].isStored && index.entries[$0].isInOutput
        }
    }

    /// Writes all results in input order to a file of its own, brings it to the disk, and renames it.
    func writeOutput() throws {
        let draft = try File.open(paths.draft, .createEmpty, in: system)
        do {
            try writeResults(to: draft)
            try draft.sync()
            try system.moveIntoPlace(paths.draft, to: paths.output)
        } catch {
            try? system.removeIfPresent(paths.draft)
            throw error
        }
        try system.syncFolder(paths.folder)
    }

    /// Only after the output is safely in place. Takes along what a run that died left half written.
    func removeJournal() throws {
        for path in [paths.draft, paths.journalDraft, paths.inFlightDraft, paths.inFlight, paths.journal] {
            try system.removeIfPresent(path)
        }
        journal = nil
    }

    private func writeResults(to draft: File) throws {
        var writer = BufferedWriter(draft)
        let journalReader = journal.map { BlockReader($0) }
        let outputReader = earlierOutput.map { BlockReader($0) }
        for position in positions.indices {
            let entry = index.entries[Int(positions[position])]
            precondition(entry.isStored, "every position is done")
            guard let reader = entry.isInOutput ? outputReader : journalReader else { continue }
            try reader.withBytes(at: entry.offset, count: Int(entry.length)) { line in
                guard let record = self.record(in: line, of: entry) else {
                    throw changedUnderneath(entry.isInOutput ? paths.output : paths.journal)
                }
                try writer.withBuffer { bytes in
                    record.appendOutput(
                        from: line, index: position / samples, showsSample: samples > 1, to: &bytes)
                    bytes.append(0x0a)
                }
            }
        }
        try writer.flush()
    }

    /// The record again, checked again: disks and people change files while runs take days.
    private func record(in line: UnsafeRawBufferPointer, of entry: ResultIndex.Entry) -> RecordLine? {
        let record: RecordLine?
        if entry.isInOutput {
            var ignored = 0
            record = RecordLine(output: line, index: &ignored)
        } else {
            record = RecordLine.hasValidSum(line) ? RecordLine(journal: line) : nil
        }
        return record?.contentHash == entry.contentHash ? record : nil
    }
}
