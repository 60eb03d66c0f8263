import BatchEngine
import Foundation
import TestSupport
import Testing

@testable import PhiModel

/// Ties the arithmetic's version to what the arithmetic gives. Whoever changes a bit of it must raise
/// the version: results of earlier runs would be mixed with new ones otherwise.
@Suite struct ArithmeticTests {
    /// What each version gives. A version's line is never edited: other results are another version.
    private static let versions: [String: Results] = [
        "5": Results(texts: "693e357a5cfb0507", logits: "345700ebded0f39c", choices: "b27779f68a617459"),
        "6": Results(texts: "9cc2074242d71591", logits: "ecbf1bdc8429013", choices: "a3a7de49ef82a4e"),
        "7": Results(texts: "cde73cdf42adf735", logits: "80dba4a2c7eca68a", choices: "976cdb18d51cddba"),
    ]

    /// Hashes.
    private struct Results: Equatable {
        /// A digest of the embedded model's golden texts (DemoTextTests holds the model to them).
        var texts: String
        /// A digest of the bits of all logits of small models of several geometries.
        var logits: String
        /// A digest of the tokens chosen from them under every rule and filter, and of their log-probabilities.
        var choices: String
    }

    /// FNV-1a of 64 bits.
    private struct Hash {
        private var value: UInt64 = 0xcbf2_9ce4_8422_2325
        mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        mutating func add(_ word: UInt32) { for shift in [0, 8, 16, 24] { add(UInt8(word >> shift & 255)) } }
        var text: String { String(value, radix: 16) }
    }

    @Test func otherResultsAreAnotherVersion() throws {
        let found = Results(texts: try texts(), logits: try logits(), choices: try choices())
        #expect(
            Self.versions[PhiEngine.arithmeticVersion] == found,
            "The arithmetic gives other bits: raise PhiEngine.arithmeticVersion and add what it gives.")
    }

    @Test func theIdentityHasWhatResultsDependOn() {
        func identity(_ options: EngineOptions) -> [String] {
            PhiEngine.identity(options).map { "\($0.name) \($0.value)" }
        }
        let version = "arithmetic \(PhiEngine.arithmeticVersion)"
        let ends = "ends <|end|> <|im_end|>"
        #expect(identity(EngineOptions()) == [version, "kv int8", ends])
        #expect(identity(EngineOptions(kvPrecision: .float16)) == [version, "kv f16", ends])
        #expect(identity(EngineOptions(kvPrecision: .int4)) == [version, "kv int4", ends])
        #expect(
            identity(EngineOptions(threads: 3, kvBudget: 1, kernels: "reference"))
                == [version, "kv int8", ends])
    }

    private func texts() throws -> String {
        let file = TestFolder.fixture("demo_greedy.json")
        var hash = Hash()
        for byte in try Data(contentsOf: file) { hash.add(byte) }
        return hash.text
    }

    private func withEngine<T>(
        _ name: String, _ precision: KVPrecision, _ body: (PhiEngine) throws -> T
    ) throws -> T {
        return try SyntheticCheckpoint.named(name).written { folder in
            let options = EngineOptions(threads: 2, kvBudget: 64 << 20, kvPrecision: precision)
            return try body(PhiEngine(folder: folder.path, options: options))
        }
    }

    private func logits() throws -> String {
        var hash = Hash()
        for name in [
            "base", "bits8-group32-bf16-tied", "bits3", "phi-4-mini-heads", "longrope", "all-plain-f16",
            "mixed-bits", "sliding-window",
        ] {
            for precision in [KVPrecision.int8, .float16, .int4] {
                try withEngine(name, precision) { engine in
                    for logit in try engine.logits(LogitsTests.prompts[1]) { hash.add(logit.bitPattern) }
                }
            }
        }
        return hash.text
    }

    private func choices() throws -> String {
        let rules = LogitRules(
            bias: [7: 1.3, 100: -0.9], presencePenalty: 0.3, frequencyPenalty: 0.7, repetitionPenalty: 1.2)
        return try withEngine("base", .int8) { engine in
            var hash = Hash()
            for parameters in [
                SamplingParameters(logprobs: 3), SamplingParameters(temperature: 1, logprobs: 0),
                SamplingParameters(temperature: 0.8, topP: 0.9, logprobs: 0),
                SamplingParameters(temperature: 1.3, topK: 20, minP: 0.05, logprobs: 0),
                SamplingParameters(logprobs: 0, rules: rules),
                SamplingParameters(
                    temperature: 0.8, topP: 0.95, topK: 50, minP: 0.01, logprobs: 3, rules: rules),
            ] {
                try choose(engine, parameters, &hash)
            }
            return hash.text
        }
    }

    private func choose(
        _ engine: PhiEngine, _ parameters: SamplingParameters, _ hash: inout Hash
    ) throws {
        let prompt = LogitsTests.prompts[0]
        let cache = try #require(try engine.begin(prompt: prompt, maxTokens: 40))
        defer { engine.release(cache) }
        var request = SamplingRequest(
            parameters: parameters, stream: 99, prompt: prompt,
            constraint: parameters.rules.usesPrompt
                ? FixedTokens((0..<320).filter { $0 % 5 != 0 }, vocabularySize: 320) : nil)
        var rows = prompt[cache.length...]
        for _ in 0..<40 {
            let input = PassInput(cache, rows, sampling: request)
            let choice = try #require(try engine.forward([input])[0].choice)
            hash.add(UInt32(choice.token))
            hash.add(choice.logprob?.bitPattern ?? 0)
            for other in choice.top {
                hash.add(UInt32(other.id))
                hash.add(other.logprob.bitPattern)
            }
            request = try #require(request.after([choice.token]))
            rows = [choice.token]
        }
    }
}
