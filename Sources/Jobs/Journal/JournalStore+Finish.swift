/// Putting the output in place.
extension JournalStore {
    /// Whether the output that is there is already, line for line, what would be written.
    func isUnchanged() -> Bool {
        guard journal.file == nil, let outcome = earlierOutput?.outcome, outcome.foreign == 0,
            outcome.isInOrder, claims.count == outcome.lines
        else { return false }
        if let errors = options.errors,
            !FailedLinesFile.isEmpty(errors, format: options.format, run: run)
        {
            return false
        }
        return claims.isAsInOutput()
    }

    /// Writes all results in input order to a file of its own, brings it to the disk, and renames it. What would
    /// be lost of an earlier output stays under another name.
    func writeOutput() throws {
        let writer = try OutputWriter(
            at: place, format: options.format, run: run, errors: options.errors)
        try writer.cleaningUp {
            try writeResults(to: writer)
            try writer.finish { try keepEarlierOutput() }
        }
        warnings += writer.warnings
        if hasKeptOutput { warnings += keptOutputs.removeOldest(but: options.keptOutputCount) }
    }

    /// Only after the output is safely in place.
    func removeJournal() throws {
        try keepJournal()
        if let inFlight, let there = try system.entryIfPresent(paths.inFlight), there.isSameFile(as: inFlight)
        {
            try system.removeIfPresent(paths.inFlight)
        }
        try journal.remove()
    }

    private func writeResults(to writer: OutputWriter) throws {
        let batch = RecordBatch(journal: journal.file, output: earlierOutput?.source)
        func writeBatch() throws {
            try batch.forEachLine { entry, line in
                if entry.isInOutput {
                    guard let earlierOutput else { preconditionFailure("the output was read at the start") }
                    try earlierOutput.withKept(line, of: entry) { result, bytes in
                        try writer.append(kept: bytes, result)
                    }
                } else {
                    // Checked again: disks and people change files while runs take days.
                    guard SealedLine.isValid(line), let record = JournalRecord(line, keeps: true),
                        record.key.contentHash == entry.contentHash
                    else { throw StoreError.changedUnderneath(paths.journal) }
                    try writer.append(record.result, record.key, run: record.run)
                }
            }
        }
        for position in 0..<claims.count {
            let entry = claims.entry(at: position).entry
            precondition(entry.isStored, "every position is done")
            if !batch.hasRoom(for: entry) { try writeBatch() }
            batch.add(entry)
        }
        try writeBatch()
    }
}
