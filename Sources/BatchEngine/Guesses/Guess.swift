/// Tokens that may come next in a completion.
struct Guess: Sendable {
    var tokens: [Int32]
    /// For each of `tokens` the likelihood that it and all before it are right.
    var likelihoods: [Double]
    /// Tokens of the match before the first one.
    var matchLength: Int
    /// It rests on other completions, not on the request's own tokens.
    var isForeign: Bool

    /// Keeps the first `count` tokens.
    mutating func cut(to count: Int) {
        tokens.removeLast(tokens.count - count)
        likelihoods.removeLast(likelihoods.count - count)
    }
}
