import BatchEngine
import Foundation
import TestSupport
import Testing

@testable import PhiModel

/// Rules on real logits: each token that the engine chooses is the one that the definitions give, worked out
/// here over all tokens so far from the logits of the whole sequence.
@Suite struct RulesOnModelTests {
    private static let vocabulary = 320
    private static let prompts: [[Int32]] = [[1, 5, 9, 200, 5], [7, 7, 7], Array(20..<90)]
    private static let cases: [(rules: LogitRules, constrained: Bool)] = [
        (LogitRules(), false), (LogitRules(presencePenalty: -1.2), false),
        (LogitRules(frequencyPenalty: -0.7), false), (LogitRules(repetitionPenalty: 1.4), false),
        (LogitRules(bias: [103: -0.5, 234: -100, 44: 0.7]), false), (LogitRules(), true),
        (
            LogitRules(
                bias: [10: 1.5, 30: 1.5], presencePenalty: -0.3, frequencyPenalty: 0.9, repetitionPenalty: 1.1
            ),
            true
        ),
    ]

    private func expected(
        _ logits: [Float], _ rules: LogitRules, prompt: [Int32], completion: [Int32], constrained: Bool
    ) -> Int32 {
        let scores = logits.indices.map { id -> Float in
            let token = Int32(id)
            let divisors: [Int32] = [2, 3, 5, 7]
            if constrained, token % divisors[completion.count % 4] != 0 { return -.infinity }
            var score = logits[id] + (rules.bias[token] ?? 0)
            let count = completion.count { $0 == token }
            if count > 0 { score -= rules.presencePenalty }
            score -= rules.frequencyPenalty * Float(count)
            if (prompt + completion).contains(token) {
                score = score < 0 ? score * rules.repetitionPenalty : score / rules.repetitionPenalty
            }
            return score
        }
        return Int32(scores.indices.reduce(0) { scores[$1] > scores[$0] ? $1 : $0 })
    }

    @Test func choicesFollowTheDefinitions() throws {
        let geometry = try #require(LogitsTests.geometries.first { $0.name == "base" })
        try withTemporaryFolder { folder in
            try geometry.write(to: folder)
            let engine = try PhiEngine(
                folder: folder.path, options: EngineOptions(threads: 2, kvBudget: 64 << 20))
            var answers: [[Int32]] = []
            for prompt in Self.prompts {
                for (rules, constrained) in Self.cases {
                    answers.append(
                        try check(engine, prompt: prompt, rules: rules, constrained: constrained))
                }
            }
            let ofCases = Self.cases.indices.map { number in
                stride(from: number, to: answers.count, by: Self.cases.count).map { answers[$0] }
            }
            #expect(Set(ofCases).count == ofCases.count, "every case must change something")
            #expect(try together(engine) == answers, "side by side in one step")
        }
    }

    private func request(_ rules: LogitRules, prompt: [Int32], constrained: Bool) -> SamplingRequest {
        SamplingRequest(
            parameters: SamplingParameters(rules: rules), stream: 0, prompt: prompt,
            constraint: constrained ? Multiples(vocabularySize: Self.vocabulary) : nil)
    }

    private func check(
        _ engine: PhiEngine, prompt: [Int32], rules: LogitRules, constrained: Bool
    ) throws -> [Int32] {
        var request = request(rules, prompt: prompt, constrained: constrained)
        var completion: [Int32] = []
        while completion.count < 12 {
            let (id, cached) = try #require(try engine.begin(prompt: prompt, maxTokens: 12))
            defer { engine.release(id) }
            let rows = (prompt + completion)[cached...]
            let input = StepInput(sequence: id, tokens: rows, sampling: request)
            let token = try #require(try engine.step([input])[0].choice).token
            let wanted = expected(
                try engine.logits(prompt + completion), rules, prompt: prompt, completion: completion,
                constrained: constrained)
            #expect(token == wanted, "\(rules), token \(completion.count)")
            request = try #require(request.after([token]))
            completion.append(token)
        }
        return completion
    }

    private func together(_ engine: PhiEngine) throws -> [[Int32]] {
        var running: [(id: RequestID, rows: ArraySlice<Int32>, request: SamplingRequest)] = []
        for prompt in Self.prompts {
            for (rules, constrained) in Self.cases {
                let (id, cached) = try #require(try engine.begin(prompt: prompt, maxTokens: 12))
                running.append(
                    (id, prompt[cached...], request(rules, prompt: prompt, constrained: constrained)))
            }
        }
        defer { for sequence in running { engine.release(sequence.id) } }
        var answers = [[Int32]](repeating: [], count: running.count)
        for _ in 0..<12 {
            let choices = try engine.step(
                running.map { StepInput(sequence: $0.id, tokens: $0.rows, sampling: $0.request) })
            for (index, choice) in choices.enumerated() {
                let token = try #require(choice.choice).token
                answers[index].append(token)
                running[index].rows = [token]
                running[index].request = try #require(running[index].request.after([token]))
            }
        }
        return answers
    }
}
