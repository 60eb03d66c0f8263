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

    private func carried(_ prompt: Prompt) throws -> JSONObject {
        ["topic": [1], "messages": try GenerationResult.carried(prompt)]
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
            var result = GenerationResult.answer(text)
            result.kept = try carried(prompt)
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
        var choice = GenerationResult.answer("no", [("no", 1)])
        choice.kept = kept
        var row = GenerationResult.row([
            .step("question", .answer("Why?")), .step("answer", .answer("So.")), .step("judge", choice),
        ])
        let said =
            #"{"messages":[{"role":"user","content":"Why?"},{"role":"assistant","content":"So."}],"topic":[1]}"#
        // It passed over that step.
        #expect(encoded(row).isEmpty)
        row.kept = kept
        #expect(encoded(row) == said + "\n")
        row.own["dropped"] = "judge"
        #expect(encoded(row).isEmpty)
        #expect(encoded(choice).contains(#""content":"no"}]"#))
        let error = LineError(.invalidAnswer, "Not so.")
        #expect(encoded(.failure(error, line: 4, text: "x", kept: kept)).isEmpty)
    }

    /// Results have what was asked, and so are others than without.
    @Test func theFingerprintSaysSo() throws {
        for (results, says) in [("full", false), ("lean", false), ("messages", true)] {
            let job = try JobSettings.sample("results: \(results)")
            #expect(job.resultSettings.contains { $0.name == "results" } == says)
        }
    }
}
