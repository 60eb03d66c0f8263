/// The results of a journal, and those of the earlier output that count beside it, by the entries of an index.
struct StoredResults {
    let journal: File?
    let output: PreviousOutput?

    /// - Throws: `UserError` if it is no longer there as it was.
    func record(of entry: ResultIndex.Entry) throws -> JournalRecord? {
        try (entry.isInOutput ? output?.source : journal)?.record(of: entry)
    }
}
