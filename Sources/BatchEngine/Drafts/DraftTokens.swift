/// Tokens that may come next in a completion.
struct DraftTokens: Sendable {
    var tokens: [Int32] = []
    /// For each of `tokens` its kind of match, as `DraftRecord` counts them.
    var kinds: [Int] = []
    /// The number of `tokens` that are tried; the others are only compared with what comes.
    var tried = 0
    /// The number of `tokens` that are expected to hold.
    var expected = 0.0
}

extension DraftIndex {
    /// Drafts the next tokens of one completion: those that followed where its last tokens came before, in its own
    /// prompt and text (this index), or in finished answers of the source. (Saxena's prompt lookup decoding, 2023,
    /// with the longest match.)
    ///
    /// Drafts change no result: the model is asked about each token all the same.
    /// - Parameters:
    ///   - completion: begins with that of the last time.
    ///   - limit: tokens to draft at most.
    ///   - least: returns the likelihood from which on a token is worth its row, after so many rows that are expected to
    ///     bring so many tokens.
    mutating func draft(
        after prompt: [Int32], _ completion: [Int32], from record: DraftRecord, limit: Int,
        least: (_ rows: Int, _ tokens: Double) -> Double
    ) -> DraftTokens? {
        if tokens.isEmpty { append(prompt) }
        append(completion[(tokens.count - prompt.count)...])
        var (draft, likelihood) = (DraftTokens(), 1.0)
        var end = Array(tokens.suffix(Self.longestMatch))
        while draft.tokens.count < limit, let (token, kind) = next(after: end[...], record) {
            likelihood *= record[kind]
            // One more is compared with what comes, which shows whether it would have been of use.
            draft.tokens.append(token)
            draft.kinds.append(kind)
            end.append(token)
            guard likelihood >= least(draft.tried, draft.expected) else { break }
            draft.tried += 1
            draft.expected += likelihood
        }
        return draft.tokens.isEmpty ? nil : draft
    }

    /// The likelier of the tokens after `end`, which ends with those that are drafted already.
    private func next(after end: ArraySlice<Int32>, _ record: DraftRecord) -> (token: Int32, kind: Int)? {
        let mine = match(for: end).map {
            (token: tokens[$0.place], kind: DraftRecord.kind($0, isOwn: true))
        }
        let others = record.answers.match(for: end).map {
            (token: record.answers.tokens[$0.place], kind: DraftRecord.kind($0, isOwn: false))
        }
        guard let mine, let others else { return mine ?? others }
        return record[mine.kind] < record[others.kind] ? others : mine
    }
}
