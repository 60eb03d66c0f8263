import BatchEngine
import Foundation
import JSON
import PhiText
import Testing

@testable import Jobs

/// Steps that answer each other: each names the texts of those before it.
@Suite struct ConversationTests {
    private static let start = "model: m\ninput: in.jsonl\noutput: out.jsonl\nchat: true\nsteps:\n"

    private func job(_ steps: String, _ folder: TemporaryFolder) throws -> JobSettings {
        try JobSettings.parse(Self.start + steps, name: "job.yaml", folder: folder.path)
    }

    @Test func threeStepsAreAConversation() throws {
        let folder = try TemporaryFolder()
        var job = try job(
            """
              - {name: question, system: Buy it., prompt: Ask., samples: 2, max_tokens: 9}
              - {name: answer, system: "You sell {{ thing }}.", prompt: "{{ question.text }}"}
              - name: question_2
                system: Buy it.
                messages:
                  - {role: user, content: Ask.}
                  - {role: assistant, content: "{{ question.text }}"}
                prompt: "{{ answer.text }}"
                accept: question_2.text | length > 2
            """, folder)
        let input = try folder.write(
            (0..<9).map { "{\"id\":\"\($0)\",\"thing\":\"thing \($0)\"}\n" }.joined(), to: "in.jsonl")
        (job.input, job.temperature, job.maxTokens, job.allowsEmpty) = ([input], 0.9, 12, true)
        var expected: [String]?
        try ScriptedRun.inManyWays(job) { outcome, lines, _ in
            #expect(outcome.statistics.done == 18 && outcome.statistics.failed == 0)
            #expect(lines == expected ?? lines)
            expected = lines
        }
        #expect(expected?.allSatisfy { $0.contains("\"answer\":{\"text\":") } == true)
    }

    @Test(arguments: ["turns: 3", "reply: {prompt: x}"])
    func keysThatWentSayWhatToUse(keys: String) throws {
        let folder = try TemporaryFolder()
        #expect {
            try job("  - name: talk\n    prompt: Hello\n    \(keys)\n", folder)
        } throws: { "\($0)".contains("make each turn a step") }
    }
}
