import TestSupport
import Testing

@testable import BatchEngine

/// Requests whose tokens are given and scored, in a loop with others.
@Suite struct ScoredRequestTests {
    private func expected(_ request: Request) -> [Float] {
        var hash = request.prompt.reduce(BlockEngine.emptyHash, BlockEngine.hash)
        return request.scored.map { token in
            defer { hash = BlockEngine.hash(hash, token) }
            return BlockEngine.logprob(of: token, after: hash)
        }
    }

    private func tokens(_ count: Int, _ random: inout FixedRandom) -> [Int32] {
        (0..<count).map { _ in Int32.random(in: 1..<1000, using: &random) }
    }

    /// Random workloads of both kinds, most in caches that are too small for them.
    @Test func valuesDependOnNothingElse() {
        var random = FixedRandom(11)
        var preemptions = 0
        for round in 0..<40 {
            let shared = tokens(20, &random)
            let requests = (0..<25).map { number in
                let own = tokens(Int.random(in: 1...20, using: &random), &random)
                let prompt = (number % 2 == 0 ? shared : []) + own
                guard number % 5 > 0 else { return Request.test(prompt, max: 40, stream: UInt64(number)) }
                return Request(
                    prompt: prompt, kind: Scoring(tokens(Int.random(in: 1...30, using: &random), &random)))
            }
            let (source, gaveWay) = TightRun.run(requests, round: round, &random)
            preemptions += gaveWay
            for (number, request) in requests.enumerated() where !request.scored.isEmpty {
                #expect(source.logprobs[number] == expected(request), "\(round), \(number)")
                #expect(source.completions[number].isEmpty)
            }
            #expect(source.tokens == requests.reduce(0) { $0 + $1.scored.count } + source.chosen)
        }
        #expect(preemptions > 20)
    }

    /// What completions of one prompt have in common is computed once.
    @Test func aPromptIsComputedOnce() {
        var random = FixedRandom(12)
        let prompt = tokens(401, &random)
        let requests = (0..<30).map { _ in
            Request(prompt: prompt, kind: Scoring(tokens(5, &random)))
        }
        let engine = BlockEngine()
        let source = TestSource(requests, workers: 8)
        _ = source.run(Scheduler(workers: 8, prefillChunk: 64), engine)
        for (number, request) in requests.enumerated() {
            #expect(source.logprobs[number] == expected(request))
        }
        // The last token of the prompt, and all but the last of the completion.
        #expect(engine.rows == 400 + 30 * 5)
    }
}
