import BatchEngine
import TestSupport
import Testing

/// Numbers worked by hand from the definitions of OpenAI's API and of Hugging Face's
/// RepetitionPenaltyLogitsProcessor. All of them are exact in binary.
@Suite struct LogitRulesTests {
    private func apply(
        _ rules: LogitRules, to logits: [Float], prompt: [Int32] = [], completion: [Int32] = []
    ) -> [Float] {
        var history = TokenHistory(prompt: prompt)
        for token in completion { history.append(token) }
        var row = logits
        row.withUnsafeMutableBufferPointer { rules.apply(to: $0, history: history) }
        return row
    }

    /// mu[j] - c[j] * frequency - (c[j] > 0) * presence, c[j] the number of j in the completion.
    @Test func presenceAndFrequencyCountTheCompletion() {
        let logits: [Float] = [2, -1, 0.5, 3]
        let completion: [Int32] = [0, 0, 1]
        #expect(
            apply(LogitRules(presencePenalty: 0.5), to: logits, prompt: [2, 3], completion: completion)
                == [1.5, -1.5, 0.5, 3])
        #expect(
            apply(LogitRules(frequencyPenalty: 0.25), to: logits, prompt: [2, 3], completion: completion)
                == [1.5, -1.25, 0.5, 3])
        #expect(
            apply(
                LogitRules(presencePenalty: -0.5, frequencyPenalty: 0.25), to: logits, completion: completion)
                == [2, -0.75, 0.5, 3])
    }

    /// score > 0 ? score / penalty : score * penalty, for each token of input_ids, once.
    @Test func repetitionLooksAtPromptAndCompletion() {
        let logits: [Float] = [2, -1, 0.5, 3, 0]
        #expect(
            apply(LogitRules(repetitionPenalty: 2), to: logits, prompt: [3, 3, 4], completion: [1, 1])
                == [2, -2, 0.5, 1.5, 0])
        #expect(
            apply(LogitRules(repetitionPenalty: 0.5), to: logits, prompt: [0], completion: [0, 1])
                == [4, -0.5, 0.5, 3, 0])
    }

    /// A row may have the logits of some tokens only.
    @Test func aRowOfSomeTokensIsChangedAlike() {
        let rules = LogitRules(
            bias: [0: -3, 2: 1, 9: 5], presencePenalty: 0.5, frequencyPenalty: 0.25, repetitionPenalty: 2)
        var history = TokenHistory(prompt: [2, 3, 11])
        for token: Int32 in [0, 0, 1, 8] { history.append(token) }
        let logits = (0..<12).map { Float($0) - 4 }
        var all = logits
        all.withUnsafeMutableBufferPointer { rules.apply(to: $0, history: history) }
        for tokens: [Int32] in [[0], [2, 9], [1, 3, 4, 8, 11], [], Array(0..<12)] {
            var some = tokens.map { logits[Int($0)] }
            some.withUnsafeMutableBufferPointer { rules.apply(to: $0, of: tokens, history: history) }
            #expect(some == tokens.map { all[Int($0)] })
        }
    }

    @Test func biasIsAdded() {
        #expect(apply(LogitRules(bias: [0: -100, 2: 1.5]), to: [2, -1, 0.5]) == [-98, -1, 2])
    }

    /// Bias, presence, frequency, repetition: ((2 - 3) - 0.5 - 0.25 * 2) * 2, and (3 + 1) / 2.
    @Test func theOrderIsTheDocumentedOne() {
        let rules = LogitRules(
            bias: [0: -3, 2: 1], presencePenalty: 0.5, frequencyPenalty: 0.25, repetitionPenalty: 2)
        #expect(apply(rules, to: [2, -1, 3], prompt: [2], completion: [0, 0]) == [-4, -1, 2])
    }

    /// The definition of NoRepeatNGramLogitsProcessor: what followed the last size - 1 tokens before is out.
    @Test func noTokensComeAgainInARow() {
        let logits = [Float](repeating: 1, count: 6)
        func out(_ size: Int, prompt: [Int32], completion: [Int32]) -> [Int] {
            let row = apply(
                LogitRules(noRepeatNgramSize: size), to: logits, prompt: prompt, completion: completion)
            #expect(row.allSatisfy { $0 == 1 || $0 == -.infinity })
            return row.indices.filter { row[$0] == -.infinity }
        }
        #expect(out(3, prompt: [1, 2, 3, 1, 2], completion: [4, 1, 2]) == [3, 4])
        #expect(out(2, prompt: [1, 2, 3, 1], completion: []) == [2])
        #expect(out(2, prompt: [5], completion: [5, 5]) == [5])
        #expect(out(1, prompt: [0, 4], completion: [2]) == [0, 2, 4])
        #expect(out(4, prompt: [1, 2], completion: [1]) == [])
        #expect(out(0, prompt: [1, 1], completion: [1]) == [])
        // A bias doesn't bring it back, and of some tokens only those are out that are there.
        let rules = LogitRules(bias: [2: 5], noRepeatNgramSize: 2)
        #expect(apply(rules, to: logits, prompt: [1, 2, 1])[2] == -.infinity)
        var some: [Float] = [1, 1]
        var history = TokenHistory(prompt: [1, 2, 1, 3])
        history.append(1)
        some.withUnsafeMutableBufferPointer { rules.apply(to: $0, of: [3, 5], history: history) }
        #expect(some == [-.infinity, 1])
    }

    /// What would end the completion is out until so many tokens have come.
    @Test func noCompletionEndsBeforeItsLeast() throws {
        let parameters = SamplingParameters(rules: LogitRules(minTokens: 2))
        var request = SamplingRequest(parameters: parameters, stream: 0, prompt: [1], ends: [3, 9])
        for count in 0..<4 {
            var row: [Float] = [1, 2, 3, 4]
            row.withUnsafeMutableBufferPointer { request.changeLogits($0) }
            #expect(row == (count < 2 ? [1, 2, 3, -.infinity] : [1, 2, 3, 4]))
            #expect(request.changesLogits == (count < 2) || count > 0)
            request = try #require(request.after([0]))
        }
    }

    @Test func whatIsOutStaysOutAndTheRestStaysFinite() {
        let largest = Float.greatestFiniteMagnitude
        let rules = LogitRules(
            bias: [0: 100, 7: 5], presencePenalty: -2, repetitionPenalty: 1e-30)
        #expect(
            apply(rules, to: [-.infinity, 1e20, -largest], completion: [0, 1, 2])
                == [-.infinity, largest, -largest * 1e-30])
        #expect(apply(LogitRules(repetitionPenalty: 100), to: [-largest], prompt: [0]) == [-largest])
    }

    @Test func withoutRulesNothingIsKept() throws {
        let plain = SamplingRequest(parameters: SamplingParameters(), stream: 0, prompt: [1, 2])
        var request = try #require(plain.after([3]))
        #expect(request.history.entries.isEmpty && !request.changesLogits)
        #expect(request.position == 1)
        let frequency = SamplingParameters(rules: LogitRules(frequencyPenalty: 1))
        request = SamplingRequest(parameters: frequency, stream: 0, prompt: [1, 2])
        #expect(!request.changesLogits)
        request = try #require(request.after([3, 3]))
        #expect(request.changesLogits)
        #expect(request.history.entries.map(\.token) == [3] && request.history.entries[0].count == 2)
    }
}
