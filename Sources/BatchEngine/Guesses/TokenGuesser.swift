/// Guesses how one completion goes on: as it did where its last tokens came before, in its own prompt and text or in
/// other completions. (Saxena's prompt lookup decoding, 2023, with the longest match instead of the first one.)
///
/// What is guessed changes no result: the model is asked about each token all the same.
final class TokenGuesser {
    /// Prompt and completion.
    private var own = GuessIndex()
    /// The latest guesses, as far as they were tested: how many there were, and how many held.
    private var tests = 0.0
    private var hits = 0.0

    /// About so many tests count.
    private static let fading = 0.85
    /// What tests of this completion are weighed against: so many of all.
    private static let commonTests = 2.0
    /// Own tokens are looked at alone if they match so far.
    private static let sure = 8
    /// Matches with other completions are accidents more often.
    private static let leastForeign = 3

    /// - Parameters:
    ///   - prompt: the same each time.
    ///   - completion: begins with that of the last time.
    ///   - limit: tokens to guess at most.
    func guess(
        after prompt: [Int32], _ completion: [Int32], from source: SourceGuesses, limit: Int
    ) -> Guess? {
        if own.tokens.isEmpty { own.append(prompt) }
        let known = own.tokens.count - prompt.count
        own.append(completion[known...])
        // What lies long ago counts less and less: a new attempt is worth its while then.
        for _ in known..<completion.count { (hits, tests) = (hits * 0.99, tests * 0.99) }

        let end = own.tokens.suffix(GuessIndex.longestMatch)
        let match = own.match(for: end)
        if match?.length ?? 0 < Self.sure, let other = source.answers.match(for: end),
            other.length >= Self.leastForeign, other.length > match?.length ?? 0
        {
            return guess(other, in: source.answers, source.foreign, isForeign: true, limit: limit)
        }
        return match.map { guess($0, in: own, source.own, isForeign: false, limit: limit) }
    }

    private func guess(
        _ match: GuessIndex.Match, in index: GuessIndex, _ record: GuessRecord, isForeign: Bool, limit: Int
    ) -> Guess {
        let tokens = index.tokens(from: match.place, count: limit)
        var likelihood = 1.0
        let likelihoods = tokens.indices.map { offset in
            // Where all before were right, the match is so much longer.
            let common = record[match.length + offset]
            likelihood *= (common * Self.commonTests + hits) / (Self.commonTests + tests)
            return likelihood
        }
        return Guess(
            tokens: tokens, likelihoods: likelihoods, matchLength: match.length, isForeign: isForeign)
    }

    /// Learns from what came of a guess.
    /// - Parameters:
    ///   - count: tokens of it that were put to the test together.
    ///   - held: how many of them were right; the one after them was not, if there is one.
    func learn(_ guess: Guess, count: Int, held: Int, _ source: inout SourceGuesses) {
        for offset in 0..<min(count, held + 1) {
            let holds = offset < held
            tests = tests * Self.fading + 1
            hits = hits * Self.fading + (holds ? 1 : 0)
            if guess.isForeign {
                source.foreign.note(length: guess.matchLength + offset, holds: holds)
            } else {
                source.own.note(length: guess.matchLength + offset, holds: holds)
            }
        }
    }
}
