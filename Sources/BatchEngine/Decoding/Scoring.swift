/// Request to score given tokens: the log-probability of each after the prompt and those before it.
package struct Scoring: RequestKind {
    /// At least one.
    package let tokens: [Int32]

    package init(_ tokens: [Int32]) {
        precondition(!tokens.isEmpty)
        self.tokens = tokens
    }

    package var maxTokens: Int { tokens.count }
    package var weight: Int { tokens.count }
    package var content: Digest? {
        var content = Digest("scoring")
        content.append(tokens)
        return content
    }

    package func decoding(after prompt: [Int32]) -> any Decoding { ScoringDecoding(tokens) }
    package func decoding(
        _ saved: SavedDecoding, after prompt: [Int32], vocabularySize: Int
    ) -> (any Decoding)? {
        saved.logprobs(count: tokens.count).map { ScoringDecoding(tokens, logprobs: $0) }
    }
}

/// Decoding state of given tokens.
package struct ScoringDecoding: Decoding {
    private let tokens: [Int32]
    /// Log-probabilities of the first tokens.
    package private(set) var logprobs: [Float]
    package private(set) var fault: ChoiceFault?

    init(_ tokens: [Int32], logprobs: [Float] = []) { (self.tokens, self.logprobs) = (tokens, logprobs) }

    package var saved: SavedDecoding { SavedDecoding(logprobs: logprobs) }
    /// Without the last one, which nothing follows.
    package var following: ArraySlice<Int32> { tokens.dropLast() }
    package var cacheable: Int { logprobs.count - 1 }
    package var isDone: Bool { fault != nil || logprobs.count == tokens.count }

    package func input(
        _ cache: SequenceCache, _ rows: ArraySlice<Int32>, end: Int, isLast: Bool, draft: [Int32]
    ) -> PassInput {
        // The row before the next target is the last that may come from the cache.
        let targets = max(0, end - cacheable)
        return PassInput(cache, rows, targets: tokens[logprobs.count...].prefix(targets))
    }

    package mutating func take(_ answer: PassAnswer, note: (SampledToken) -> String?) -> PassOutcome {
        if answer.logprobs.contains(where: \.isNaN) { fault = .notFinite }
        logprobs += answer.logprobs.prefix { !$0.isNaN }
        return PassOutcome()
    }
}
