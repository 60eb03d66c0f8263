/// Putting the output in place.
extension LogStore {
    /// Whether the output that is there is already, line for line, what would be written.
    func isUnchanged() throws -> Bool {
        guard !writer.hasBegun, isAsWritten, let finished = found.finished, stored.lost == 0,
            claims.count == finished.end?.results, finished.header.format == options.format.nameInLog,
            finished.header.layout == options.format.layout
        else { return false }
        if let errors = options.errors {
            guard try finished.end?.errors?.isSum(of: errors, in: system) == true else { return false }
        }
        return claims.isAsInOutput()
    }

    /// Writes all results in input order to a file of its own, brings it to the disk, and renames it. What would
    /// be lost of an earlier output stays under another name.
    func writeOutput() throws {
        let output = try OutputWriter(
            at: place, header, replacing: lock.log, format: options.format, samples: options.samples,
            errors: options.errors)
        var keeps = false
        for position in 0..<claims.count {
            let entry = claims.entry(at: position).entry
            precondition(entry.isStored, "every position is done")
            try stored.read(entry) { try output.append($0, $1) }
        }
        try output.finish { keeps = try keepEarlier(isReplaced: $0) }
        (lock.log, lock.isNew) = (output.log, false)
        warnings += output.warnings
        if keeps { warnings += oldFiles.removeOldest(but: options.keptOutputCount) }
    }
}
