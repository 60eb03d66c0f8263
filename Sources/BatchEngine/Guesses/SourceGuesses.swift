/// What the completions of one source tell about the next ones.
struct SourceGuesses: Sendable {
    /// Completions that are done, the latest ones.
    private(set) var answers = GuessIndex()
    /// The record of guesses from a request's own tokens.
    var own = GuessRecord()
    /// The record of guesses from `answers`.
    var foreign = GuessRecord()

    /// Tokens of `answers`, at most: about 10 MB with its index.
    private static let limit = 1 << 17

    mutating func add(_ completion: [Int32]) {
        guard completion.count > 2 else { return }
        if answers.tokens.count + completion.count > Self.limit {
            var rest = GuessIndex()
            rest.append(answers.tokens.suffix(Self.limit / 2))
            answers = rest
        }
        answers.append(completion.suffix(Self.limit / 4))
        answers.append([GuessIndex.gap])
    }
}
