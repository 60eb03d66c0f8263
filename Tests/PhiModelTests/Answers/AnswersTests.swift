import Foundation
import Testing

@testable import PhiModel

/// Many answers in one loop, by a small model with random weights. It has no tokenizer: prompts are token ids.
@Suite struct AnswersTests {
    private func model(workers: Int = 4) throws -> ModelContainer {
        try withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("model")
            try SyntheticCheckpoint(name: "answers").write(to: path)
            let engine = try PhiEngine(folder: path.path, options: EngineOptions(threads: 2))
            return ModelContainer(engine: engine, workers: workers)
        }
    }

    /// Prompts have different lengths.
    private func prompts(_ count: Int) -> [Prompt] {
        (0..<count).map { number in
            let length = 1 + 7 * number % 90
            let ids = (0..<length).map { (place: Int) -> Int32 in Int32(3 + (31 * number + 17 * place) % 300)
            }
            return .tokens(ids)
        }
    }

    private let parameters = AnswerParameters(maxTokens: 24, temperature: 0.8, topP: 0.95, seed: 5)

    @Test func answersTogetherAreTheAnswersAlone() async throws {
        let model = try model()
        var alone: [[Int32]] = []
        for prompt in prompts(20) {
            alone.append(try await model.answer(to: prompt, parameters: parameters).tokens)
        }
        var together: [[Int32]] = []
        for try await answer in model.answers(to: prompts(20), parameters: parameters) {
            together.append(answer.tokens)
        }
        #expect(together == alone, "in the prompts' order")
        #expect(Set(alone).count > 10, "the comparison must mean something")
    }

    @Test func callersJoinAndLeaveWhileOthersRun() async throws {
        let model = try model()
        let alone = try await model.answer(to: prompts(9)[8], parameters: parameters).tokens
        let answers = try await withThrowingTaskGroup(of: (Int, [Int32]).self) { group in
            for (number, prompt) in prompts(9).enumerated() {
                group.addTask {
                    (number, try await model.answer(to: prompt, parameters: self.parameters).tokens)
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(answers.count == 9)
        #expect(answers[8] == alone)
    }

    @Test func endingAnIterationGivesItsPlaceToOthers() async throws {
        let model = try model(workers: 1)
        let endless = AnswerParameters(maxTokens: 400)
        for _ in 0..<3 {
            // Let go at once; with one worker the next could not begin before.
            _ = model.generate(prompts(1)[0], parameters: endless)
        }
        let answer = try await model.answer(to: prompts(2)[1], parameters: AnswerParameters(maxTokens: 2))
        #expect(answer.tokens.count == 2)
    }

    @Test func aCancelledTaskGetsNoHalfAnswer() async throws {
        let model = try model()
        let prompt = prompts(1)[0]
        let task = Task { try await model.answer(to: prompt, parameters: AnswerParameters(maxTokens: 400)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await model.answer(to: prompt, parameters: parameters).tokens.count > 0)
    }

    @Test func aReaderThatWaitsHoldsUpNobody() async throws {
        let model = try model(workers: 2)
        let slow = model.generate(prompts(3)[2], parameters: parameters)
        for prompt in prompts(6) { _ = try await model.answer(to: prompt, parameters: parameters) }
        var ends = 0
        for try await part in slow { if case .end = part { ends += 1 } }
        #expect(ends == 1)
    }

    @Test func whatCantBeServedIsAnErrorOfItsOwnRequest() async throws {
        let model = try model()
        var wrong = parameters
        wrong.topP = 0
        for (prompt, parameters) in [
            (Prompt.tokens([]), parameters), (.tokens([99_999]), parameters),
            (.text("no tokenizer"), parameters),
            (prompts(1)[0], wrong), (.tokens([Int32](repeating: 5, count: 512)), parameters),
        ] {
            await #expect(throws: UserError.self) {
                try await model.answer(to: prompt, parameters: parameters)
            }
        }
        #expect(try await model.answer(to: prompts(1)[0], parameters: .init(maxTokens: 0)).tokens.isEmpty)
        #expect(try await model.answer(to: prompts(1)[0], parameters: parameters).ending == .length)
    }
}
