/// Finished answers of a source, and the share of draft tokens that were accepted, by their kinds of match.
struct DraftRecord: Sendable {
    private(set) var answers = DraftIndex()
    private var hits = Array(repeating: 0.0, count: 6 * expectations.count)
    private var tests = Array(repeating: 0.0, count: 6 * expectations.count)

    /// For matches of 2, 3, 4, 5 to 7, 8 to 15, and more tokens.
    private static let expectations = [0.3, 0.45, 0.6, 0.75, 0.85, 0.93]
    /// An expectation counts as so many tests.
    private static let expectedTests = 8.0
    /// Older tests count less: jobs change on the way.
    private static let fading = 0.99
    /// Tokens of answers beyond which all are forgotten.
    private static let most = 1 << 18
    /// Tokens of a prompt's end, after which answers begin alike: all prompts of a job end alike.
    private static let context = 8

    /// Adds a finished answer.
    mutating func learn(_ answer: some Collection<Int32>, after prompt: some BidirectionalCollection<Int32>) {
        if answer.isEmpty { return }
        if answers.tokens.count > Self.most { answers = DraftIndex() }
        answers.append(prompt.suffix(Self.context))
        answers.append(answer)
    }

    /// Counts which draft tokens were chosen, also of those that were not tried.
    mutating func learn(_ draft: DraftTokens, _ choices: SmallArray<SampledToken>) {
        for (number, choice) in choices.prefix(draft.tokens.count).enumerated() where choice.fault == nil {
            let (kind, holds) = (draft.kinds[number], choice.token == draft.tokens[number])
            hits[kind] = hits[kind] * Self.fading + (holds ? 1 : 0)
            tests[kind] = tests[kind] * Self.fading + 1
            if !holds { break }
        }
    }

    /// Returns the kind of a match: by its length, by whether other matches agree, and by whether it is in the request's
    /// own text.
    static func kind(_ match: DraftIndex.Match, isOwn: Bool) -> Int {
        let length = match.length
        let number = length < 5 ? max(length, 2) - 2 : length < 8 ? 3 : length < 16 ? 4 : 5
        let vote = match.others >= match.same ? 0 : match.same > 1 ? 2 : 1
        return ((isOwn ? 3 : 0) + vote) * expectations.count + number
    }

    /// The likelihood that a token of this kind is chosen.
    subscript(kind: Int) -> Double {
        let expected = Self.expectations[kind % Self.expectations.count]
        return (expected * Self.expectedTests + hits[kind]) / (Self.expectedTests + tests[kind])
    }
}
