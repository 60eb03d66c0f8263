/// Putting the output in place.
extension LogStore {
    /// Whether the output that is there is already, line for line, what would be written.
    func isUnchanged() throws -> Bool {
        guard !writer.hasBegun, let earlierOutput, let finished = found.finished else { return false }
        guard earlierOutput.isAsWritten, earlierOutput.lost == 0, claims.count == earlierOutput.count,
            finished.header.format == options.format.name, finished.header.layout == options.format.layout
        else { return false }
        if let errors = options.errors {
            let there = try File.textIfPresent(errors, in: system)
            guard try there.map({ try OutputLog.Sum(of: $0) }) == finished.end?.errors else { return false }
        }
        return claims.isAsInOutput()
    }

    /// Writes all results in input order to a file of its own, brings it to the disk, and renames it. What would
    /// be lost of an earlier output stays under another name.
    func writeOutput() throws {
        let output = try OutputWriter(
            at: place, header, replacing: lock.log, format: options.format, run: run, errors: options.errors)
        var keeps = false
        try output.cleaningUp {
            try writeResults(to: output)
            try output.finish { keeps = try keepEarlier(isReplaced: $0) }
        }
        (lock.log, lock.isNew) = (output.log, false)
        warnings += output.warnings
        if keeps { warnings += oldFiles.removeOldest(but: options.keptOutputCount) }
    }

    private func writeResults(to writer: OutputWriter) throws {
        let (log, earlier) = (FilePieces(self.writer.file), earlierOutput.map { FilePieces($0.source) })
        for position in 0..<claims.count {
            let entry = claims.entry(at: position).entry
            precondition(entry.isStored, "every position is done")
            // Checked again: disks and people change files while runs take days.
            let written = try (entry.isInOutput ? earlier : log)?.with(
                entry.offset..<entry.offset + Int(entry.length)
            ) { line in
                guard ChecksummedLine.isValid(line), let record = ResultRecord(line),
                    record.key.contentHash == entry.contentHash
                else { return false }
                try writer.append(record, line)
                return true
            }
            guard written == true else { throw UserError.changedUnderneath(paths.log) }
        }
    }
}
