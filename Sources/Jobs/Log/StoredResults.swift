import Errors

/// Results that a log has, in its order: found by their keys, and read one by one.
package class StoredResults {
    package let log: OutputLog
    package let index: ResultIndex
    private let packed: FilePieces?
    private let plain: FilePieces
    /// Results of the packed part that are damaged or missing, or of runs that don't count.
    package private(set) var lost = 0
    private(set) var completionTokens = 0

    package init(_ log: OutputLog, index: ResultIndex = ResultIndex()) {
        (self.log, self.index) = (log, index)
        (packed, plain) = (log.finished.map { FilePieces($0.text) }, FilePieces(log.file))
    }

    package var count: Int { index.count }
    var shares: [RunShare] { index.shares(of: index.all) }

    /// Headers of the latest run and of the packed part, so far as they are there.
    var headers: [LogHeader] { [log.begun, log.finished?.header].compactMap(\.self) }

    /// Returns what is known of a run whose results count.
    func run(_ digest: String) -> RunFingerprint? { headers.lazy.compactMap { $0.run(digest) }.first }

    /// Schemes by which lines are known.
    package var lines: [LineScheme] { headers.reduce([]) { $0.adding($1.lines) } }

    // MARK: Reading the log

    /// Reads both parts, and of them results that count beside those of the latest run.
    func readCounted() throws -> LogReader.Outcome {
        let accepted = log.begun?.accepted
        try readPacked { accepted?.contains($0) ?? true }
        return try readPlain { accepted?.contains($0) ?? true }
    }

    /// - Parameter accepts: whether results of a run count, by its digest.
    package func readPacked(accepts: (String) throws -> Bool = { _ in true }) throws {
        guard let finished = log.finished else { return }
        let before = index.count
        let outcome = try LogReader(file: finished.text, isOutput: true).records(
            into: index, accepts: accepts)
        let isWhole = finished.end != nil && !outcome.isTorn
        lost = max(
            outcome.damaged, (finished.end?.results ?? 0) - (index.count - before), isWhole ? 0 : 1)
        completionTokens += outcome.completionTokens
    }

    package func readPlain(accepts: (String) throws -> Bool = { _ in true }) throws -> LogReader.Outcome {
        let outcome = try LogReader(file: log.file, start: log.tail).records(into: index, accepts: accepts)
        completionTokens += outcome.completionTokens
        return outcome
    }

    // MARK: Reading results

    /// - Throws: `UserError` if it is no longer there as it was: disks and people change files while runs take days.
    package func record(_ number: Int) throws -> ResultRecord {
        try read(index[number]) { record, _ in record }
    }

    /// - Parameter body: gets the record and its line.
    func read<Value>(
        _ entry: ResultIndex.Entry, _ body: (ResultRecord, UnsafeRawBufferPointer) throws -> Value
    ) throws -> Value {
        let place = entry.offset..<entry.offset + Int(entry.length)
        let value = try (entry.isInOutput ? packed : plain)?.with(place) { line -> Value? in
            guard ChecksummedLine.isValid(line), let record = ResultRecord(line),
                record.key.contentHash == entry.contentHash
            else { return nil }
            return try body(record, line)
        }
        guard let value, let value else { throw UserError.changedUnderneath(log.file.path) }
        return value
    }

    private func number(of key: ResultKey) -> Int? { index.find(ResultIndex.nameHash(key, repetition: 0)) }

    /// The content hashes of results of a key's id and sample.
    func hashes(of key: ResultKey) -> [UInt64] { number(of: key).map { [index[$0].contentHash] } ?? [] }

    /// The result of a key; nil if there is none.
    func record(of key: ResultKey) throws -> ResultRecord? {
        guard let number = number(of: key), index[number].isStored,
            index[number].contentHash == key.contentHash
        else { return nil }
        return try record(number)
    }
}

extension OutputLog {
    /// Whether an unfinished run left results in the plain part.
    func hasResults() throws -> Bool {
        let results = StoredResults(self)
        _ = try results.readPlain()
        return results.count > 0
    }
}

/// Results of an output that is in place.
package final class FinishedOutput: StoredResults {
    package let path: String
    package let header: LogHeader

    /// - Returns: nil if there is no output.
    /// - Throws: `UserError` if it can't be read, or has no log.
    package init?(_ path: String) throws {
        let system = FileSystem.real
        let paths = try OutputPaths(output: path, in: system)
        guard let log = try OutputLog.find(of: path), let finished = log.finished else {
            guard try system.exists(paths.output) else { return nil }
            throw UserError(
                .mismatch, at: paths.output,
                "is there, but not its log \(paths.log), so nothing says what it holds. \(OutputLog.advice)")
        }
        (self.path, header) = (path, finished.header)
        super.init(log)
        try readPacked()
    }

    /// Whether the output is, byte for byte, as it was written.
    package func isAsWritten() throws -> Bool { try log.fits(path, in: .real) }

    /// Format of the output, with the layout that its log names.
    /// - Throws: `UserError` if this version has no such format.
    package func format() throws -> ResultFormat { try .recorded(header, path) }
}
