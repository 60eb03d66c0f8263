import BatchEngine
import JSON
import PhiText
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Outputs of conversations to train with. `LeanJobTests` has jobs that are stopped, verified and merged.
@Suite struct MessagesResultsTests {
    private func encoded(_ result: GenerationResult) -> String {
        ResultFormat.jsonl.showing(.messages)?.text(of: result) ?? "no such format"
    }

    private func carried(_ prompt: Prompt) throws -> [GenerationResult.CarriedValue] {
        [
            .init(name: "messages", json: "\"the line's own\""), .init(name: "topic", json: "[1]"),
            try GenerationResult.carried(prompt),
        ]
    }

    @Test func aLineIsAConversation() throws {
        let asked = [
            ChatMessage(
                role: "system", content: "Be \"brief\".", members: [.init(name: "tools", value: "[]")]),
            ChatMessage(role: "user", content: "Why?\n"),
        ]
        let start =
            #"{"messages":[{"role":"system","tools":"[]","content":"Be \"brief\"."},"#
            + #"{"role":"user","content":"Why?\n"},{"role":"assistant","content":""#
        let end = "\"}],\"topic\":[1]}\n"
        let texts = [
            (Prompt.messages(asked), "So\u{301}.\"\u{1}", #"So\#u{301}.\"\u0001"#),
            (.messages(asked), "", ""),
            (.continued(asked, prefix: "\"Be"), "cause\\", #"\"Because\\"#),
        ]
        for (prompt, text, written) in texts {
            let result = GenerationResult(GeneratedResult.answer(text), kept: try carried(prompt))
            #expect(encoded(result) == start + written + end)
            let line = try JSONValue(parsing: Array(encoded(result).utf8.dropLast()), limits: .line)
            #expect(line["messages"] != nil)
        }
        for prompt in [Prompt.text("Why?"), .tokens([1])] {
            #expect(throws: LineError.self) { try carried(prompt) }
        }
    }

    /// It is the last step's that has a text sampled.
    @Test func whatHasNoAnswerIsLeftOut() throws {
        let kept = try carried(.user("Why?"))
        let choice = GeneratedResult.answer("no", [.init(text: "no", value: 1)])
        var row = StepsResult([
            .init("question", GeneratedResult.answer("Why?")), .init("answer", GeneratedResult.answer("So.")),
            .init("judge", choice),
        ])
        let said =
            #"{"messages":[{"role":"user","content":"Why?"},{"role":"assistant","content":"So."}],"topic":[1]}"#
        #expect(encoded(GenerationResult(row, kept: kept)) == said + "\n")
        // It passed over that step.
        #expect(encoded(GenerationResult(row)).isEmpty)
        row.dropped = "judge"
        #expect(encoded(GenerationResult(row, kept: kept)).isEmpty)
        #expect(encoded(GenerationResult(choice, kept: kept)).contains(#""content":"no"}]"#))
        let failure = GenerationResult.Failure(LineError(.invalidAnswer, "Not so."), line: 4, text: "x")
        #expect(encoded(.failure(failure, kept: kept)).isEmpty)
    }

    /// Results have what was asked, and so are others than without.
    @Test func theFingerprintSaysSo() throws {
        for (results, says) in [("full", false), ("lean", false), ("messages", true)] {
            let job = try JobSettings.parse("model: m\ninput: i\noutput: o\nresults: \(results)")
            #expect(job.resultSettings.contains { $0.name == "results" } == says)
        }
    }
}
