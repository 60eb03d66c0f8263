/// Guesses how one completion goes on, token by token: as it did where its last tokens came before in its own prompt
/// and text, or as the source's completions mostly did after them, whichever has held more often. (Saxena's prompt
/// lookup decoding, 2023, with the longest match instead of the first one, and beside it counts of what followed.)
///
/// What is guessed changes no result: the model is asked about each token all the same.
final class TokenGuesser {
    /// Prompt and completion.
    private var own = GuessIndex()

    /// - Parameters:
    ///   - prompt: the same each time.
    ///   - completion: begins with that of the last time.
    ///   - limit: tokens to guess at most.
    ///   - least: no token is of use beyond the first if it is less likely.
    func guess(
        after prompt: [Int32], _ completion: [Int32], from source: SourceGuesses, limit: Int,
        least: Double = 0
    ) -> Guess? {
        if own.tokens.isEmpty { own.append(prompt) }
        own.append(completion[(own.tokens.count - prompt.count)...])

        var (guess, likelihood) = (Guess(), 1.0)
        var end = Array(own.tokens.suffix(GuessIndex.longestMatch))
        while guess.tokens.count < limit, let (token, ground) = next(after: end[...], source) {
            likelihood *= source.record[ground]
            guard guess.tokens.isEmpty || likelihood >= least else { break }
            guess.tokens.append(token)
            guess.likelihoods.append(likelihood)
            guess.grounds.append(ground)
            end.append(token)
        }
        guess.tried = guess.tokens.count
        return guess.tokens.isEmpty ? nil : guess
    }

    /// The likeliest token after `end`, which ends with those that are guessed already.
    private func next(after end: ArraySlice<Int32>, _ source: SourceGuesses) -> (Int32, Ground)? {
        let found = source.phrases.find(after: end)
        guard let match = own.match(for: end) else { return found.map { ($0.token, Ground($0)) } }
        let token = own.tokens[match.place]
        guard let found else { return (token, Ground(match: match.length, isDisputed: false)) }
        if found.token == token { return (token, Ground(match: match.length, and: found)) }
        let (ground, other) = (Ground(match: match.length, isDisputed: true), Ground(found))
        return source.record[ground] < source.record[other] ? (found.token, other) : (token, ground)
    }
}

extension SourceGuesses {
    /// Learns from what came in place of a guess, also of tokens that were not tried.
    mutating func learn(_ guess: Guess, _ choices: SmallArray<SampledToken>) {
        for (number, choice) in choices.prefix(guess.tokens.count).enumerated() where choice.fault == nil {
            let holds = choice.token == guess.tokens[number]
            record.note(guess.grounds[number], holds: holds)
            if !holds { break }
        }
    }
}
