import Testing

@testable import BatchEngine

@Suite struct DrafterTests {
    private func tokens(
        _ prompt: [Int32], _ completion: [Int32], _ record: DraftRecord = DraftRecord(), limit: Int = 4
    ) -> [Int32]? {
        DraftIndex.draft(after: prompt, completion, from: record, limit: limit) { _, _ in 0 }?.tokens
    }

    private func taught(_ completions: [Int32]..., after prompt: [Int32] = [50, 51, 52]) -> DraftRecord {
        var record = DraftRecord()
        for completion in completions { record.learn(completion, after: prompt) }
        return record
    }

    @Test func aPromptIsRepeated() {
        #expect(tokens([1, 2, 3, 4, 5, 6], [2, 3], limit: 3) == [4, 5, 6])
        #expect(tokens([9, 1, 2, 1, 2], [1, 2], limit: 5) == [1, 2, 1, 2, 1], "a repetition goes on")
        #expect(tokens([1, 2, 3], [4, 5]) == nil)
    }

    @Test func finishedAnswersAreUsed() {
        let record = taught([7, 8, 9, 10, 11], [7, 8, 9, 10, 11])
        #expect(tokens([1], [7, 8, 9], record, limit: 2) == [10, 11])
        #expect(tokens([60, 51, 52], [7], record, limit: 3) == [8, 9, 10])
        // Where prompts end alike, so do answers begin.
        #expect(tokens([60, 51, 52], [], record, limit: 2) == [7, 8])
        #expect(tokens([60, 61], [], record) == nil)
        // An answer without tokens teaches nothing.
        #expect(taught([]).answers.tokens.isEmpty)
    }

    /// The longer match counts, wherever it is.
    @Test func theLikelierTokenIsTaken() {
        #expect(tokens([9, 10, 3], [7, 8, 9, 10], taught([7, 8, 9, 10, 11]), limit: 1) == [11])
        #expect(tokens([7, 8, 9, 10, 3], [7, 8, 9, 10], taught([9, 10, 11]), limit: 1) == [3])
    }

    /// Likelihoods fall while tokens are rejected, tried or not, and rise again once they are accepted.
    @Test func likelihoodsFollowWhatCame() throws {
        var record = DraftRecord()
        let prompt: [Int32] = [1, 2, 3, 4]
        func likelihood(after token: Int32) throws -> Double {
            let draft = try #require(
                DraftIndex.draft(after: prompt, [1, 2], from: record, limit: 1) { _, _ in 1 })
            #expect(draft.tried == 0)
            let likelihood = record[draft.kinds[0]]
            record.learn(draft, SmallArray(SampledToken(token: token)))
            return likelihood
        }
        let misses = try (0..<60).map { _ in try likelihood(after: 99) }
        #expect(misses[0] > 0.2 && misses[20] < 0.1 && misses[59] < 0.05, "\(misses)")
        let hits = try (0..<60).map { _ in try likelihood(after: 3) }
        #expect(hits[30] > 0.25 && hits[59] > hits[30], "\(hits)")
    }

    /// One more is compared with what comes.
    @Test func unlikelyTokensAreNotTried() {
        let prompt: [Int32] = [1, 2, 3, 4, 5, 6]
        func tried(_ least: Double) -> [Int]? {
            DraftIndex.draft(after: prompt, [1, 2], from: DraftRecord(), limit: 4) { _, _ in least }
                .map { [$0.tried, $0.tokens.count] }
        }
        #expect(tried(0) == [4, 4] && tried(0.2) == [1, 2] && tried(0.9) == [0, 1])
    }
}

extension DraftIndex {
    /// Drafts after a text that nothing was drafted of.
    fileprivate static func draft(
        after prompt: [Int32], _ completion: [Int32], from record: DraftRecord, limit: Int,
        least: (_ rows: Int, _ tokens: Double) -> Double
    ) -> DraftTokens? {
        var index = DraftIndex()
        return index.draft(after: prompt, completion, from: record, limit: limit, least: least)
    }
}
