import PhiModel
import Testing

/// What the DocC pages show of a model. No `@testable`: these are programs of a user.
@Suite(.enabled(if: DemoModel.folder != nil, DemoModel.missing)) struct ModelTests {
    @Test func streamsAnAnswer() async throws {
        let model = try await ModelContainer.load(folder: try #require(DemoModel.folder))
        var text = ""
        var whole: Answer?
        for try await part in model.generate(.user("What is gravity?"), parameters: .init(maxTokens: 40)) {
            switch part {
            case .text(let more): text += more
            case .reasoning: break
            case .end(let answer): whole = answer
            }
        }
        #expect(text.hasPrefix("Gravity is a fundamental concept in physics"))
        #expect(whole?.text == text)
        #expect(whole?.tokens.count == 40)
        #expect(whole?.ending == .length)
    }

    @Test func answersManyPromptsAtOnce() async throws {
        let model = try await ModelContainer.load(folder: try #require(DemoModel.folder), workers: 4)
        let prompts = ["gravity", "rain", "a comet", "salt", "a prime number", "yeast"].map {
            Prompt.user("What is \($0)?")
        }
        let parameters = AnswerParameters(maxTokens: 16, temperature: 0.7, seed: 17, stop: ["."])
        var texts: [String] = []
        for try await answer in model.answers(to: prompts, parameters: parameters) {
            texts.append(answer.text)
            #expect(answer.ending != .stopSequence || !answer.text.contains("."))
        }
        #expect(texts.count == prompts.count)
        let alone = try await model.answer(to: prompts[3], parameters: parameters)
        #expect(texts[3] == alone.text, "the same bytes alone")
    }

    @Test func noAnswerEndsBeforeItsLeastTokens() async throws {
        let model = try await ModelContainer.load(folder: try #require(DemoModel.folder))
        var parameters = AnswerParameters(maxTokens: 120, stop: ["."])
        let plain = try await model.answer(to: .user("What is gravity?"), parameters: parameters)
        #expect(plain.ending == .stopSequence)
        parameters.minTokens = plain.tokens.count + 3
        let longer = try await model.answer(to: .user("What is gravity?"), parameters: parameters)
        #expect(longer.text.hasPrefix(plain.text + ".") && longer.tokens.count > plain.tokens.count + 3)
        parameters.minTokens = 121
        let error = await #expect(throws: UserError.self) {
            try await model.answer(to: .user("What is gravity?"), parameters: parameters)
        }
        #expect(error?.message == "min_tokens is 121, but max_tokens 120.")
    }

    @Test func noTwoTokensComeTwice() async throws {
        let model = try await ModelContainer.load(folder: try #require(DemoModel.folder))
        var parameters = AnswerParameters(maxTokens: 120)
        func pairs() async throws -> [[Int32]] {
            let tokens = try await model.answer(to: .user("Count to fifty."), parameters: parameters).tokens
            return zip(tokens, tokens.dropFirst()).map { [$0, $1] }
        }
        let plain = try await pairs()
        #expect(Set(plain).count < plain.count, "the comparison must mean something")
        parameters.noRepeatNgramSize = 2
        let unlike = try await pairs()
        #expect(Set(unlike).count == unlike.count && unlike.count > 5)
    }

    @Test func aWrongFolderIsAModelError() async throws {
        let error = await #expect(throws: UserError.self) {
            try await ModelContainer.load(folder: "no/such/folder")
        }
        #expect(error?.kind == .missing)
    }
}
