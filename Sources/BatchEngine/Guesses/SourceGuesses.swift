/// What the completions of one source tell about the next tokens of any of them.
struct SourceGuesses: Sendable {
    /// What completions that are done or under way have in common.
    private(set) var phrases = PhraseTable()
    var record = GuessRecord()

    /// Learns a completion's tokens from number `start` on. All prompts of a job end alike, so that what comes after
    /// such an end says how completions begin.
    mutating func learn(_ completion: [Int32], after prompt: [Int32], from start: Int) {
        guard start < completion.count else { return }
        let before = prompt.suffix(PhraseTable.reach) + Array(completion[..<start].suffix(PhraseTable.reach))
        phrases.learn(Array(before + completion[start...]), from: before.count)
    }
}
