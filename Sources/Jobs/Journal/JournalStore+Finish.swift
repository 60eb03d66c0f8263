/// Putting the output in place.
extension JournalStore {
    /// Whether the output that is there is already, line for line, what would be written.
    func isUnchanged() throws -> Bool {
        guard journal.file == nil, let earlierOutput else { return false }
        let log = earlierOutput.log
        guard earlierOutput.isAsWritten, earlierOutput.lost == 0, claims.count == earlierOutput.count,
            log.header.format == options.format.name, log.header.layout == options.format.layout
        else { return false }
        if let errors = options.errors {
            let there = try File.textIfPresent(errors, in: system)
            guard try there.map({ try OutputLog.Sum(of: $0) }) == log.end?.errors else { return false }
        }
        return claims.isAsInOutput()
    }

    /// Writes all results in input order to a file of its own, brings it to the disk, and renames it. What would
    /// be lost of an earlier output stays under another name.
    func writeOutput() throws {
        let writer = try OutputWriter(
            at: place, header, format: options.format, run: run, errors: options.errors)
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
                // Checked again: disks and people change files while runs take days.
                guard ChecksummedLine.isValid(line), let record = JournalRecord(line, keeps: true),
                    record.key.contentHash == entry.contentHash
                else { throw UserError.changedUnderneath(entry.isInOutput ? paths.log : paths.journal) }
                try writer.append(record, line)
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
