/// The results of a journal, and those of the earlier output that count beside it, by the entries of an index.
struct StoredResults {
    private let journal: FilePieces?
    private let output: FilePieces?
    private let earlier: EarlierOutput?

    init(journal: File?, _ earlier: EarlierOutput?) {
        (self.journal, self.earlier) = (journal.map(FilePieces.init), earlier)
        output = earlier.map { FilePieces($0.source) }
    }

    /// - Returns: nil if it is no longer there as it was.
    func result(
        of entry: ResultIndex.Entry
    ) throws -> (recorded: RecordedResult, result: GenerationResult)? {
        try (entry.isInOutput ? output : journal)?.with(
            entry.offset..<entry.offset + Int(entry.length)
        ) { line in
            if entry.isInOutput { return try earlier?.result(line, of: entry) }
            guard SealedLine.isValid(line), let record = JournalRecord(line, keeps: true) else { return nil }
            let recorded = RecordedResult(
                key: record.key, run: record.run, isFailed: record.result.isFailed,
                completionTokens: record.result.completionTokens)
            return (recorded, record.result)
        } ?? nil
    }
}
