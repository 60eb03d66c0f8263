import BatchPipeline
import Foundation
import OperatingSystem
import PhiModel
import TestSupport
import Testing

@testable import PhiModel
@testable import phibatch

/// A chat with answers from a script.
@Suite struct ChatTests {
    /// What a chat has shown and asked.
    private final class Seen: @unchecked Sendable {
        var answers = ""
        var reasonings = ""
        var messages: [String] = []
        var failures: [String] = []
        var isInterrupted = false
        var held: AsyncThrowingStream<AnswerPart, any Error>.Continuation?
        let asked = Mutex<[[ChatMessage]]>([])
    }

    /// Answers with the number of messages, in two parts. Of some questions comes something else.
    private static func answer(_ messages: [ChatMessage], _ seen: Seen) -> AsyncThrowingStream<
        AnswerPart, any Error
    > {
        seen.asked.withLock { $0.append(messages) }
        let question = messages.last?.content ?? ""
        return AsyncThrowingStream { parts in
            if question == "long" {
                parts.finish(throwing: UserError(.promptTooLong, "It has too many tokens."))
            } else {
                if question == "hard" { parts.yield(.reasoning("<think>Hm.</think>\n\n")) }
                parts.yield(.text("answer "))
                parts.yield(.text("\(messages.count)"))
                // An endless one shows its parts, and then nothing more, unless nobody interrupts it.
                if question == "endless" {
                    seen.held = parts
                    DispatchQueue.global().asyncAfter(deadline: .now() + longestWait) { parts.finish() }
                    return
                }
                parts.yield(
                    .end(
                        Answer(
                            text: "answer \(messages.count)", reasoning: nil,
                            tokens: question == "full" ? [1] : [1, 2, 3],
                            ending: question == "stops" ? .stop : .length, promptTokens: 5, prefillSeconds: 1,
                            decodeSeconds: 0.5)))
                parts.finish()
            }
        }
    }

    private struct Ended: @unchecked Sendable {
        var chat: Chat
        var seen: Seen
    }

    /// On a thread of its own, as the program has: a chat waits for its answers, and they need Swift's threads.
    private func chat(_ inputs: [ChatLine], system: String? = nil) async throws -> (Chat, Seen) {
        let ended = try await WorkerThread.result("chat") { try Self.run(inputs, system) }
        return (ended.chat, ended.seen)
    }

    private static func run(_ inputs: [ChatLine], _ system: String?) throws -> Ended {
        let seen = Seen()
        var chat = Chat(
            system: system, maxTokens: 3,
            output: Chat.Output(
                answer: {
                    seen.answers += $0
                    // Ctrl-C, once all of the endless answer is there.
                    seen.isInterrupted = seen.answers.hasSuffix("7") && $0 != "\n"
                },
                reasoning: { seen.reasonings += $0 },
                say: { seen.messages.append($0.text) },
                fail: { seen.failures.append($0.text) }, isInterrupted: { seen.isInterrupted }),
            maker: { Self.answer($0, seen) })
        var rest = inputs[...]
        try chat.run { rest.popFirst() ?? .end }
        return Ended(chat: chat, seen: seen)
    }

    private func lines(_ lines: String...) -> [ChatLine] { lines.map { .text($0) } }

    /// They are shown, but are no part of the answer, and not sent back.
    @Test func reasoningsAreApart() async throws {
        let (chat, seen) = try await chat(lines("hard", "stops"), system: nil)
        #expect(seen.reasonings == "<think>Hm.</think>\n\n" && seen.answers == "answer 1\nanswer 3\n")
        #expect(seen.asked.withLock { $0.last?.map(\.content) } == ["hard", "answer 1", "stops"])
        #expect(chat.turns.count == 4)
    }

    @Test func turnsAddUp() async throws {
        let (chat, seen) = try await chat(
            lines("stops", "", "  ", "again", "full", " /etc"), system: "Be short.")
        #expect(seen.answers == "answer 2\nanswer 4\nanswer 6\nanswer 8\n")
        let last = try #require(seen.asked.withLock { $0.last })
        #expect(
            last.map(\.role) == [
                "system", "user", "assistant", "user", "assistant", "user", "assistant", "user",
            ])
        #expect(last.last?.content == " /etc" && last[2].content == "answer 2")
        #expect(seen.messages[0] == "3 tokens, 4.0 tokens/s")
        #expect(seen.messages[1] == "3 tokens, 4.0 tokens/s; length: --max-tokens is 3")
        #expect(seen.messages[2].hasPrefix("1 token; length: the model's context is full."))
        #expect(chat.failures == 0)
    }

    @Test func aResetForgetsAllButTheSystemMessage() async throws {
        let (chat, seen) = try await chat(lines("one", "/reset", "two", "/quit", "three"), system: "Be kind.")
        let asked = seen.asked.withLock { $0.map { $0.map(\.content) } }
        #expect(asked == [["Be kind.", "one"], ["Be kind.", "two"]] && chat.failures == 0)
    }

    @Test func whatFailsIsTold() async throws {
        let (chat, seen) = try await chat(
            lines("long", "one", "long", "/usr", "/reset now") + [.notText(number: 6)] + lines("two"))
        #expect(seen.failures[0] == "It has too many tokens.")
        #expect(seen.failures[1].hasPrefix("It has too many tokens. /reset forgets"))
        #expect(seen.failures[2].hasPrefix("/usr is not") && seen.failures[3].hasPrefix("/reset now is not"))
        #expect(seen.failures[4] == "stdin:6: the line is not valid UTF-8.")
        #expect(chat.failures == 5 && seen.answers == "answer 1\nanswer 3\n")
        #expect(chat.turns.count == 4)
    }

    @Test func anInterruptEndsTheAnswerOnly() async throws {
        let (chat, seen) = try await chat(lines("a", "b", "c", "endless", "d"))
        #expect(seen.answers == "answer 1\nanswer 3\nanswer 5\nanswer 7\nanswer 9\n")
        #expect(chat.turns[7].content == "answer 7")
        #expect(seen.messages[3] == "interrupted")
    }

    @Test func anInterruptAtThePromptDropsTheLineOnly() async throws {
        let seen = try await chat([.text("a"), .interrupted, .interrupted, .text("b")]).1
        #expect(seen.answers == "answer 1\nanswer 3\n" && seen.messages.contains("Ctrl-D ends the chat"))
    }
}
