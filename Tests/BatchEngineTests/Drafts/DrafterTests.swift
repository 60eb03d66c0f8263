import Testing

@testable import BatchEngine

@Suite struct TokenGuesserTests {
    private func tokens(
        _ prompt: [Int32], _ completion: [Int32], _ source: SourceGuesses = SourceGuesses(), limit: Int = 4
    ) -> [Int32]? {
        TokenGuesser().guess(after: prompt, completion, from: source, limit: limit)?.tokens
    }

    private func taught(_ completions: [Int32]..., after prompt: [Int32] = [50, 51, 52]) -> SourceGuesses {
        var source = SourceGuesses()
        for completion in completions { source.learn(completion, after: prompt, from: 0) }
        return source
    }

    @Test func aPromptIsRepeated() {
        #expect(tokens([1, 2, 3, 4, 5, 6], [2, 3], limit: 3) == [4, 5, 6])
        #expect(tokens([9, 1, 2, 1, 2], [1, 2], limit: 5) == [1, 2, 1, 2, 1], "a repetition goes on")
        #expect(tokens([1, 2, 3], [4, 5]) == nil)
    }

    @Test func otherCompletionsAreUsed() {
        let source = taught([7, 8, 9, 10, 11], [7, 8, 9, 10, 11])
        #expect(tokens([1], [7, 8, 9], source, limit: 2) == [10, 11])
        #expect(tokens([60, 51, 52], [7], source, limit: 3) == [8, 9, 10])
        // Where prompts end alike, so do completions begin.
        #expect(tokens([60, 51, 52], [], source, limit: 2) == [7, 8])
        #expect(tokens([60, 61], [], source) == nil)
    }

    /// Templates from the others, what is in them from the prompt.
    @Test func bothTakeTurns() {
        let source = taught([7, 20, 21, 9, 10, 11], [7, 30, 31, 9, 10, 11], [7, 40, 41, 9, 10, 11])
        let guess = tokens([60, 61, 62, 9, 3], [7, 60, 61], source)
        #expect(guess == [62, 9, 10, 11], "\(guess ?? [])")
    }

    /// What never holds is not expected for long, though it is not tried; nor for ever once it holds again.
    @Test func likelihoodsFollowWhatCame() throws {
        var source = SourceGuesses()
        let prompt: [Int32] = [1, 2, 3, 4]
        func likelihood(after token: Int32) throws -> Double {
            var guess = try #require(
                TokenGuesser().guess(after: prompt, [1, 2], from: source, limit: 1), "a guess")
            guess.tried = 0
            source.learn(guess, SmallArray(SampledToken(token: token)))
            return guess.likelihoods[0]
        }
        let misses = try (0..<60).map { _ in try likelihood(after: 99) }
        #expect(misses[0] > 0.2 && misses[20] < 0.1 && misses[59] < 0.05, "\(misses)")
        let hits = try (0..<60).map { _ in try likelihood(after: 3) }
        #expect(hits[30] > 0.25 && hits[59] > hits[30], "\(hits)")
    }

    /// Beyond the first one, which shows whether more are of use.
    @Test func unlikelyTokensAreLeftOut() {
        let prompt: [Int32] = [1, 2, 3, 4, 5, 6]
        func count(_ least: Double) -> Int? {
            TokenGuesser().guess(after: prompt, [1, 2], from: SourceGuesses(), limit: 4, least: least)?.tokens
                .count
        }
        #expect(count(0) == 4 && count(0.2) == 1 && count(0.1) == 2)
    }
}
