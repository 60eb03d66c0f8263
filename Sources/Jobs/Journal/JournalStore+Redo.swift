/// Results of a finished output that are to be made again.
extension JournalStore {
    /// Has a run that begins after this make results again, and closes the store. They are marked all at once: whatever
    /// ends this or that run, the next one goes on.
    /// - Parameters:
    ///   - keys: those of the results that are there.
    ///   - choice: by what they were chosen.
    package func redo(_ keys: [WorkKey], choice: UInt64) throws {
        precondition(journal.file == nil, "an unfinished run goes on first")
        defer { close() }
        try failing {
            try journal.begin(
                with: keys.flatMap { RedoMark(key: $0.again, choice: choice).line + [0x0a] })
        }
    }
}
