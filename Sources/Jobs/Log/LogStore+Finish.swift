import OperatingSystem

/// Putting the output in place.
extension LogStore {
    /// Whether the output that is there is already, line for line, what would be written.
    func isUnchanged() throws -> Bool {
        guard !writer.hasBegun, isAsWritten, let finished = found.finished, found.lost == 0,
            claims.count == finished.end?.results, finished.header.format == job.outputFormat.nameInLog,
            finished.header.layout == job.outputFormat.layout
        else { return false }
        if let errors = job.errors {
            guard try finished.end?.errors?.isSum(of: errors, in: system) == true else { return false }
        }
        return claims.isAsInOutput()
    }

    /// Writes all results in input order to a file of its own, brings it to the disk, and renames it. What would
    /// be lost of an earlier output stays under another name.
    func writeOutput() throws {
        let output = try OutputWriter(
            at: paths, header, replacing: lock.log, format: job.outputFormat, samples: job.sampleCount,
            errors: job.errors)
        var keeps = false
        var (next, position) = (readResults(from: 0), 0)
        defer { _ = try? next.value() }
        while case let results = try next.value(), !results.isEmpty {
            position += results.count
            next = readResults(from: position)
            for (record, line) in results { try line.withUnsafeBytes { try output.append(record, $0) } }
        }
        try output.finish { keeps = try keepEarlier(isReplaced: $0) }
        (lock.log, lock.isNew) = (output.log, false)
        warnings += output.warnings
        if keeps { warnings += removeOld(but: job.keepOld) }
    }

    /// Reads some results and their lines, those of positions from `start` on. Until they are there, nothing else uses the store.
    private func readResults(from start: Int) -> Ahead<[(ResultRecord, line: [UInt8])]> {
        nonisolated(unsafe) let store = self
        return Ahead("stored") {
            var (results, size) = ([(ResultRecord, line: [UInt8])](), 0)
            while size < 1 << 18, case let position = start + results.count, position < store.claims.count {
                let entry = store.claims.entry(at: position).entry
                precondition(entry.isStored, "every position is done")
                results.append(try store.found.read(entry) { ($0, Array($1)) })
                size += Int(entry.length)
            }
            return results
        }
    }
}
