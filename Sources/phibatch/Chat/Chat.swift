import Errors
import OperatingSystem
import PhiModel

/// Conversation between a model and the author of the input's lines.
struct Chat {
    struct Output {
        /// Shows the model's text.
        var answer: (String) throws -> Void
        /// Shows the model's reasoning before its answer.
        var reasoning: (String) throws -> Void
        /// Reports an event.
        var say: (Message) -> Void
        var fail: (Message) -> Void
        var isInterrupted: () -> Bool
    }

    typealias AnswerMaker = @Sendable ([ChatMessage]) -> any AsyncSequence<AnswerPart, any Error> & Sendable

    let system: String?
    let maxTokens: Int
    let output: Output
    let maker: AnswerMaker
    /// Questions and answers in turn.
    private(set) var turns: [ChatMessage] = []
    /// Number of lines that failed.
    private(set) var failures = 0

    /// Answers lines until they end or one is `/quit`.
    /// - Throws: an error of the output.
    mutating func run(_ next: () -> ChatLine) throws {
        while true {
            switch next() {
            case .end, .text("/quit"): return
            case .interrupted: output.say("Ctrl-D ends the chat")
            case .notText(let number): fail("stdin:\(number): the line is not valid UTF-8.")
            case .text("/reset"):
                turns = []
                output.say("the conversation is forgotten")
            case .text(let line) where line.hasPrefix("/"):
                fail(
                    "\(line) is not a command: /reset forgets the conversation, and /quit ends the chat. Put a space before it to ask it as a question."
                )
            case .text(let line): if !line.allSatisfy(\.isWhitespace) { try answer(line) }
            }
        }
    }

    private mutating func fail(_ message: Message) {
        failures += 1
        output.fail(message)
    }

    private mutating func answer(_ question: String) throws {
        let opening = system.map { [ChatMessage(role: "system", content: $0)] } ?? []
        let asked = turns + [ChatMessage(role: "user", content: question)]
        let stream = maker(opening + asked)
        let parts = Queue<Result<AnswerPart, any Error>>()
        let task = Task {
            do { for try await part in stream { parts.put(.success(part)) } } catch {
                parts.put(.failure(error))
            }
            parts.close()
        }
        defer { task.cancel() }
        var (text, answer, problem) = ("", Answer?.none, (any Error)?.none)
        while answer == nil, problem == nil, let new = parts.wait(.max, seconds: 0.1) {
            for part in new {
                switch part {
                case .success(.text(let more)):
                    text += more
                    try output.answer(more)
                case .success(.reasoning(let more)): try output.reasoning(more)
                case .success(.end(let whole)): answer = whole
                case .failure(let error): problem = error
                }
            }
            if output.isInterrupted() { break }
        }
        if text.last != "\n", problem == nil || !text.isEmpty { try output.answer("\n") }
        if let problem {
            let isTooLong = (problem as? UserError)?.kind == .promptTooLong && !turns.isEmpty
            return fail("\(problem)\(isTooLong ? " /reset forgets the conversation." : "")")
        }
        guard answer != nil || !text.isEmpty else {
            return output.say("interrupted before the answer began; the question is forgotten")
        }
        turns = asked + [ChatMessage(role: "assistant", content: text)]
        output.say(answer.map(report) ?? "interrupted")
    }

    /// Returns the number of tokens, their speed, and the reason of the end unless the model ended it.
    private func report(_ answer: Answer) -> Message {
        let count = answer.tokens.count
        let ending: Message =
            switch answer.ending {
            case .stop, .toolCalls: ""
            case .stopSequence: "; a stop string was found"
            case .reasoningLength:
                "; the reasoning did not end: --max-tokens is \(maxTokens), --max-reasoning-tokens ends it"
            case .length where count >= maxTokens: "; length: --max-tokens is \(maxTokens)"
            case .length: "; length: the model's context is full. /reset forgets the conversation."
            }
        let speed = answer.tokensPerSecond
        return "\(counted(count, "token"))\(speed > 0 ? ", \(rounded(speed)) tokens/s" : "")\(ending)"
    }
}
