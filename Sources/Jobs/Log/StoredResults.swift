/// Results of a log's plain part, and those of its packed part that count beside them, by the entries of an index.
struct StoredResults {
    let log: File?
    let output: PreviousOutput?

    /// - Throws: `UserError` if it is no longer there as it was.
    func record(of entry: ResultIndex.Entry) throws -> ResultRecord? {
        try (entry.isInOutput ? output?.source : log)?.record(of: entry)
    }
}
