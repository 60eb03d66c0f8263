import BatchEngine
import Foundation
import JSON
import PhiText
import Testing

@testable import Jobs

/// Steps in which two prompts answer each other.
@Suite struct ConversationTests {
    private static let start = "model: m\ninput: in.jsonl\noutput: out.jsonl\nchat: true\nsteps:\n"

    private func job(_ steps: String, _ folder: TemporaryFolder) throws -> JobSettings {
        try JobSettings.parse(Self.start + steps, name: "job.yaml", folder: folder.path)
    }

    @Test func eachSideSeesItsOwnPartAsTheAssistants() throws {
        let folder = try TemporaryFolder()
        let job = try job(
            """
              - name: talk
                system: "You sell {{ thing }}."
                prompt: "Hello, {{ thing }}?"
                turns: 3
                samples: 2
                accept: talk_3.text | length > 2
                reply: {system: Buy it., prompt: Ask., max_tokens: 9}
            """, folder)
        #expect(job.steps.map(\.name) == ["talk", "talk_reply", "talk_2", "talk_reply_2", "talk_3"])
        #expect(job.sampleCount == 2 && job.steps[1].settings.maxTokens == 9)
        #expect(job.steps.map { $0.accept != nil } == [false, false, false, false, true])
        func said(_ step: JobStep) -> [String] { step.settings.messages.map { "\($0.role): \($0.content)" } }
        #expect(
            said(job.steps[4]) == [
                "user: Hello, {{ thing }}?", "assistant: {{ talk.text }}", "user: {{ talk_reply.text }}",
                "assistant: {{ talk_2.text }}", "user: {{ talk_reply_2.text }}",
            ])
        #expect(
            said(job.steps[3]) == [
                "user: Ask.", "assistant: Hello, {{ thing }}?", "user: {{ talk.text }}",
                "assistant: {{ talk_reply.text }}", "user: {{ talk_2.text }}",
            ])
        #expect(
            job.steps[4].settings.system == "You sell {{ thing }}."
                && job.steps[3].settings.system == "Buy it.")

        let input = try folder.write(
            (0..<9).map { "{\"id\":\"\($0)\",\"thing\":\"thing \($0)\"}\n" }.joined(), to: "in.jsonl")
        var running = job
        (running.input, running.temperature, running.maxTokens) = ([input], 0.9, 12)
        var expected: [String]?
        try ScriptedRun.inManyWays(running) { outcome, lines, _ in
            #expect(outcome.statistics.done == 18 && outcome.statistics.failed == 0)
            #expect(lines == expected ?? lines)
            expected = lines
        }
        #expect(expected?.allSatisfy { $0.contains("\"talk_reply_2\":{\"text\":") } == true)
    }

    @Test(arguments: [
        ("turns: 3", "turns and reply go together"),
        ("reply: {prompt: x}", "turns and reply go together"),
        ("turns: 1\n    reply: {prompt: x}", "talk: turns must be"),
        ("turns: 3\n    reply: {system: x}", "talk: reply needs a prompt"),
        ("turns: 3\n    reply: {prompt: x, where: y}", "talk: reply has no where"),
        ("turns: 3\n    reply: {prompt: x, promt: y}", "talk_reply: promt is no key of a step"),
    ]) func wrongOnesAreNamed(keys: String, problem: String) throws {
        let folder = try TemporaryFolder()
        #expect {
            try job("  - name: talk\n    prompt: Hello\n    \(keys)\n", folder)
        } throws: { "\($0)".contains(problem) }
    }
}
