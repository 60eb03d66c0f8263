import Errors

/// Results of a finished output, by its log.
package final class PreviousOutput {
    let finished: OutputLog.Finished
    /// File that entries of the index point into.
    var source: File { finished.text }
    /// Results that are there.
    package let count: Int
    /// Results that are damaged or missing, or of runs that don't count.
    package let lost: Int
    let completionTokens: Int
    /// Whether the output is, byte for byte, as it was written.
    package let isAsWritten: Bool

    /// Reads the results of a log into an index.
    /// - Parameters:
    ///   - output: nil if there is none.
    ///   - accepts: whether results of a run count, by its digest.
    package init(
        _ finished: OutputLog.Finished, of output: File?, index: ResultIndex, accepts: (String) throws -> Bool
    ) throws {
        self.finished = finished
        let before = index.count
        let outcome = try LogReader(file: finished.text, isOutput: true).records(
            into: index, accepts: accepts)
        count = index.count - before
        let isWhole = finished.end != nil && !outcome.isTorn
        lost = max(outcome.damaged, (finished.end?.results ?? 0) - count, isWhole ? 0 : 1)
        completionTokens = outcome.completionTokens
        isAsWritten = try output.map(finished.fits) ?? false
    }

    /// Reads the results that are there; nil if there are none.
    package static func find(
        at paths: OutputPaths, into index: ResultIndex, in system: any FileSystem,
        accepts: (String) throws -> Bool
    ) throws -> PreviousOutput? {
        guard let finished = try OutputLog.find(at: paths, in: system)?.finished else { return nil }
        let output = try File.openIfPresent(paths.output, .read, in: system)
        return try PreviousOutput(finished, of: output, index: index, accepts: accepts)
    }
}

extension File {
    /// Damage is found again here: disks and people change files while runs take days.
    func record(of entry: ResultIndex.Entry) throws -> ResultRecord {
        try line(of: entry).withUnsafeBytes { line in
            guard ChecksummedLine.isValid(line), let record = ResultRecord(line) else {
                throw UserError.changedUnderneath(path)
            }
            return record
        }
    }
}
