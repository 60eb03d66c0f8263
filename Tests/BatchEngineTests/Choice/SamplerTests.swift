import CPhiKernels
import Foundation
import TestSupport
import Testing

@testable import BatchEngine

@Suite struct SamplerTests {
    /// All that this machine can run, best first.
    private static var kernels: [PhiKernels] {
        (0..<phi_kernels_count()).compactMap { phi_kernels_at($0)?.pointee }
    }

    private func choose(
        _ logits: [Float], _ request: SamplingRequest, kernels: PhiKernels? = nil
    ) -> SampledToken {
        var scratch = [Float](repeating: .nan, count: logits.count)
        return Sampler(kernels ?? Self.kernels[0]).choose(
            logits, count: logits.count, scratch: &scratch, request: request)
    }

    private func request(
        _ parameters: SamplingParameters = SamplingParameters(), position: Int = 0,
        prompt: [Int32] = [], completion: [Int32] = [], constraint: (any Constraint)? = nil
    ) -> SamplingRequest {
        let start = SamplingRequest(
            parameters: parameters, stream: 7, position: position, prompt: prompt, constraint: constraint)
        guard let request = start.after(completion) else {
            Issue.record("the constraint forbids the completion")
            return start
        }
        return request
    }

    private static let logits: [Float] = (0..<150).map { Float(($0 * 37) % 150) / 16 - 4 }
    private static let best = Int32(logits.indices.max { logits[$0] < logits[$1] } ?? 0)

    /// Two of three tokens are left, with the probabilities 1/4 and 3/4.
    @Test func theDrawIsOverWhatIsLeft() {
        let logits: [Float] = [1, 50, 1 + Float(log(3.0)) - 2]
        var drawn = [0, 0]
        for position in 0..<200 {
            let parameters = SamplingParameters(temperature: 1, rules: LogitRules(bias: [2: 2]))
            let request = request(
                parameters, position: position, constraint: FixedTokens([0, 2], vocabularySize: 3))
            let uniform = RandomStream.uniform(stream: 7, position: position)
            let token = choose(logits, request).token
            #expect(token == (uniform < 0.25 ? 0 : 2), "\(uniform)")
            drawn[token == 0 ? 0 : 1] += 1
        }
        #expect(drawn[0] > 20 && drawn[1] > 100)
    }

    /// Top-k, top-p and min-p see only what the mask has left; a larger top-k doesn't bring anything back.
    @Test(arguments: [
        (SamplingParameters(temperature: 2), 4), (SamplingParameters(temperature: 2, topK: 100), 4),
        (SamplingParameters(temperature: 2, topK: 2), 2),
        (SamplingParameters(temperature: 2, topP: 0.999), 4),
        (SamplingParameters(temperature: 2, minP: 0.01), 4),
    ]) func filtersSeeOnlyWhatIsAllowed(parameters: SamplingParameters, left: Int) {
        let allowed: [Int32] = [3, 64, 65, 149]
        let mask = FixedTokens(allowed, vocabularySize: 150)
        let tokens = (0..<300).map {
            choose(Self.logits, request(parameters, position: $0, constraint: mask)).token
        }
        #expect(Set(tokens).isSubset(of: allowed))
        let ranked = allowed.sorted { Self.logits[Int($0)] > Self.logits[Int($1)] }
        #expect(Set(tokens) == Set(ranked[..<left]))
    }

    @Test(arguments: [0, 1] as [Float]) func aConstraintThatAllowsNothingIsAFaultOfItsLine(temperature: Float)
    {
        let parameters = SamplingParameters(temperature: temperature, logprobs: 2)
        let request = request(parameters, constraint: FixedTokens([], vocabularySize: 150))
        #expect(choose(Self.logits, request) == SampledToken(fault: .nothingAllowed))
    }

    /// Where few tokens are left the others are not looked at: the choice is the one among all, the others at
    /// -infinity.
    @Test(arguments: [1, 2, 9, 40, 70, 600])
    func theChoiceIsTheSameAmongFewAndAll(kept: Int) {
        let count = 1130
        // The lower id counts first where logits are equal.
        let logits = (0..<count).map { Float(($0 * 37) % 500) / 50 - 4 }
        let tokens = (0..<kept).map { Int32(($0 * 389 + 7) % count) }
        let masked = logits.indices.map { tokens.contains(Int32($0)) ? logits[$0] : -.infinity }
        let rules = LogitRules(
            bias: [tokens[0]: 1.5, 3: 100], presencePenalty: 0.3, frequencyPenalty: 0.7,
            repetitionPenalty: 1.3
        )
        let filters = [
            SamplingParameters(), SamplingParameters(temperature: 1),
            SamplingParameters(temperature: 1.5, topK: 5), SamplingParameters(temperature: 2, topK: 100),
            SamplingParameters(temperature: 0.7, topK: 1130), SamplingParameters(temperature: 1, topP: 0.8),
            SamplingParameters(temperature: 0.01, topP: 0.99, topK: 50),
            SamplingParameters(temperature: 3, topP: 0.9, topK: 30, minP: 0.2),
            SamplingParameters(temperature: 1, minP: 0.05),
        ]
        for filter in filters {
            for rules in [LogitRules(), rules] {
                var parameters = filter
                parameters.rules = rules
                for position in 0..<30 {
                    let completion = (0..<position).map { tokens[$0 % kept] }
                    let among = request(
                        parameters, position: position, prompt: [1, 2, tokens[0]], completion: completion)
                    let constrained = request(
                        parameters, position: position, prompt: [1, 2, tokens[0]], completion: completion,
                        constraint: FixedTokens(tokens, vocabularySize: count))
                    for kernels in Self.kernels {
                        #expect(
                            choose(logits, constrained, kernels: kernels)
                                == choose(masked, among, kernels: kernels))
                    }
                }
            }
        }
    }

    @Test func logprobsAreTheModelsOwn() {
        let plain = choose(Self.logits, request(SamplingParameters(logprobs: 5)))
        #expect(plain.token == Self.best)
        for temperature: Float in [0, 1] {
            let parameters = SamplingParameters(
                temperature: temperature, logprobs: 5,
                rules: LogitRules(
                    bias: [Self.best: -100, 3: 100], presencePenalty: 1, repetitionPenalty: 1.5))
            let choice = choose(Self.logits, request(parameters, prompt: [7], completion: [8]))
            #expect(choice.token == 3 && choice.top == plain.top)
            let whole = Self.logits.reduce(0.0) { $0 + exp(Double($1)) }
            let expected = Double(Self.logits[3]) - log(whole)
            #expect(abs(Double(choice.logprob ?? .nan) - expected) < 1e-5)
        }
    }

    /// Rules that change nothing change nothing, and all kernels choose alike.
    @Test func everyKernelChoosesAlike() {
        let neutral = SamplingParameters(
            temperature: 0.8, topP: 0.9, logprobs: 3, rules: LogitRules(bias: [5: 0], presencePenalty: 0))
        let rules = SamplingParameters(
            temperature: 0.8, topP: 0.9, logprobs: 3,
            rules: LogitRules(
                bias: [5: 1.7, 90: -3.3], presencePenalty: 0.3, frequencyPenalty: 0.7, repetitionPenalty: 1.3)
        )
        let constraint = FixedTokens((0..<150).filter { $0 % 7 != 0 }, vocabularySize: 150)
        for position in 0..<50 {
            var plain = neutral
            plain.rules = LogitRules()
            let expected = choose(Self.logits, request(plain, position: position))
            let completion = (0..<Int32(position)).map { $0 * 13 % 150 }.filter { $0 % 7 != 0 }
            let changed = request(
                rules, prompt: [1, 2, 5, 90], completion: completion, constraint: constraint)
            let expectedChanged = choose(Self.logits, changed)
            for kernels in Self.kernels {
                #expect(
                    choose(Self.logits, request(neutral, position: position), kernels: kernels) == expected)
                #expect(choose(Self.logits, changed, kernels: kernels) == expectedChanged)
            }
        }
    }
}
