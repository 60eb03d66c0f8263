import BatchEngine
import Foundation
import TestSupport
import Testing

@testable import PhiModel

/// The embedded model's greedy answers to eight prompts of varied kind and language: exactly the texts that
/// are kept, and the tokens of exact arithmetic wherever those are decided clearly.
///
/// Fixtures/demo_greedy.json is our own output, made anew by
/// `PHIBATCH_WRITE_GOLDEN=1 make test FILTER=DemoTextTests`.
/// Fixtures/demo_reference.json comes from Hugging Face transformers; it says how.
@Suite(.tags(.slow), .enabled(if: DemoModel.folder != nil, DemoModel.missing))
struct DemoTextTests {
    struct Reference: Decodable {
        struct Answer: Decodable {
            var messages: [ChatMessage]
            var prompt: [Int32]
            /// The last one is the end of sequence if there are fewer than `max_tokens`.
            var greedy: [Int32]
            /// By how much the logit of greedy[i] exceeds the runner-up's.
            var gaps: [Float]
        }
        var maxTokens: Int
        var answers: [Answer]
    }

    struct Golden: Codable, Equatable {
        var prompt: String
        var tokens: [Int32]
        var text: String
    }

    private static let goldenFile = TestFolder.fixture("demo_greedy.json")
    private static let isWriting = ProcessInfo.processInfo.environment["PHIBATCH_WRITE_GOLDEN"] == "1"

    /// Where exact arithmetic decides by less than this, 8-bit activations may decide otherwise.
    private static let tolerance: Float = 0.5

    static func reference() throws -> Reference {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(
            Reference.self,
            from: Data(contentsOf: TestFolder.fixture("demo_reference.json")))
    }

    /// Greedy tokens, or the tokens chosen after each prefix of `forced` where that is given.
    private func decode(_ engine: PhiEngine, _ prompt: [Int32], count: Int, forced: [Int32]? = nil) throws
        -> [Int32]
    {
        guard let cache = try engine.begin(prompt: prompt, maxTokens: count) else {
            throw UserError(.resources, "no room")
        }
        defer { engine.release(cache) }
        var tokens: [Int32] = []
        var next = prompt[cache.length...]
        while tokens.count < count {
            let sampling = SamplingRequest(
                parameters: SamplingParameters(), stream: 0, position: tokens.count)
            let step = [PassInput(cache, next, sampling: sampling)]
            let token = try #require(try engine.forward(step)[0].choice).token
            tokens.append(token)
            if forced == nil, engine.limits.endOfSequence.contains(token) { break }
            next = [forced?[tokens.count - 1] ?? token]
        }
        return tokens
    }

    @Test func greedyTextsAreTheGoldenOnes() throws {
        let engine = try PhiEngine(folder: try #require(DemoModel.folder))
        let reference = try Self.reference()
        let answers = try reference.answers.map { answer in
            let prompt = try engine.text.tokens(for: .messages(answer.messages))
            #expect(prompt == answer.prompt, "template and tokenizer give the reference's ids")
            let tokens = try decode(engine, prompt, count: reference.maxTokens)
            let text = tokens.filter { !engine.limits.endOfSequence.contains($0) }
            var stream = engine.text.makeTextStream()
            let pieces = text.map { stream.append($0) }.joined() + stream.finish()
            return Golden(prompt: answer.messages.last?.content ?? "", tokens: tokens, text: pieces)
        }
        if Self.isWriting {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let lines = try answers.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
            try Data("[\n\(lines.joined(separator: ",\n"))\n]\n".utf8).write(to: Self.goldenFile)
        }
        let golden = try JSONDecoder().decode([Golden].self, from: Data(contentsOf: Self.goldenFile))
        #expect(golden.count == 8)
        for (answer, golden) in zip(answers, golden) { #expect(answer == golden) }
    }

    /// Every prefix of the reference's answer is given to the model, so that one undecided step does not
    /// end the comparison.
    @Test func clearChoicesAreThoseOfExactArithmetic() throws {
        let engine = try PhiEngine(folder: try #require(DemoModel.folder))
        var clear = 0
        var equal = 0
        var steps = 0
        for answer in try Self.reference().answers {
            let count = answer.greedy.count
            let chosen = try decode(engine, answer.prompt, count: count, forced: answer.greedy)
            for step in 0..<count {
                steps += 1
                if chosen[step] == answer.greedy[step] { equal += 1 }
                guard answer.gaps[step] >= Self.tolerance else { continue }
                clear += 1
                let place: Comment = "\(answer.messages.last?.content ?? ""), token \(step)"
                #expect(chosen[step] == answer.greedy[step], place)
            }
        }
        print("greedy: \(equal) of \(steps) tokens are the reference's, \(clear) of them clear")
        #expect(clear > steps * 3 / 4, "the comparison must mean something")
        #expect(equal > steps * 9 / 10)
    }
}
