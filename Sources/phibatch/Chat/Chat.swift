import BatchPipeline
import Essentials
import Faults
import OperatingSystem
import PhiModel

/// A conversation between whoever writes the lines and a model.
struct Chat {
    /// What a chat shows, and where.
    struct Output {
        /// The model's text.
        var answer: (String) throws -> Void
        /// What the model thinks before it answers.
        var reasoning: (String) throws -> Void
        /// What happens.
        var say: (Message) -> Void
        /// What was asked for with a command.
        var tell: (Message) -> Void
        var fail: (Message) -> Void
    }

    var conversation: Conversation
    let maxTokens: Int
    let events: ChatEvents
    let output: Output
    /// How many tokens a text has; for answers that were interrupted.
    let tokenCount: (String) -> Int
    let maker: AnswerMaker
    /// Lines that came to nothing.
    private(set) var failures = 0

    init(
        system: String?, maxTokens: Int, events: ChatEvents, output: Output,
        tokenCount: @escaping (String) -> Int,
        maker: @escaping AnswerMaker
    ) {
        conversation = Conversation(system: system)
        self.maxTokens = maxTokens
        self.events = events
        self.output = output
        self.tokenCount = tokenCount
        self.maker = maker
    }

    /// Until the lines end, or one says so.
    /// - Throws: if an answer can't be shown.
    mutating func run(_ lines: inout some ChatLines) throws {
        var wasInterrupted = false
        while true {
            switch lines.next() {
            case .end: return
            case .interrupted(let typed):
                // After something was typed it drops that, and no conversation.
                if wasInterrupted, typed == false { return }
                wasInterrupted = true
                output.say(
                    typed == nil ? "Ctrl-D ends the chat" : "Ctrl-C again, or Ctrl-D, ends the chat")
            case .notText(let number):
                fail("stdin:\(number): the line is not valid UTF-8.")
            case .line(let line):
                wasInterrupted = false
                if try !take(ChatRequest(line)) { return }
            }
        }
    }

    private mutating func fail(_ message: Message) {
        failures += 1
        output.fail(message)
    }

    /// - Returns: false if that was the end.
    private mutating func take(_ request: ChatRequest) throws -> Bool {
        switch request {
        case .nothing: break
        case .quit: return false
        case .help: output.tell(ChatRequest.helpText)
        case .wrong(let problem): fail(problem)
        case .reset:
            conversation.reset()
            output.tell(
                "what was said is forgotten\(conversation.system == nil ? "" : "; the system message stays")")
        case .system(let text): setSystem(text)
        case .save(let path): save(path)
        case .message(let text): try answer(text)
        }
        return true
    }

    private mutating func setSystem(_ text: String?) {
        guard let text else {
            output.tell(
                conversation.system.map { "the system message is: \($0)" } ?? "there is no system message")
            return
        }
        conversation.system = text.isEmpty ? nil : text
        let what: Message = text.isEmpty ? "there is no system message any more" : "the system message is set"
        let rest: Message = conversation.turns.isEmpty ? "" : "; what was said stays (/reset forgets it)"
        output.tell("\(what), from the next answer on\(rest)")
    }

    private mutating func save(_ path: String) {
        guard let line = conversation.inputLine else { return fail("there is nothing to save yet.") }
        do {
            try SavedConversations.append(line, to: Self.expanded(path))
            output.tell(
                "added to \(path): up to your last question as a job's messages, with its answer beside them")
        } catch {
            fail("\(error)")
        }
    }

    /// A shell would have put the home folder in the place of the tilde.
    private static func expanded(_ path: String) -> String {
        guard path.utf8.starts(with: "~/".utf8), let home = ProgramCall.path(inVariable: "HOME") else {
            return path
        }
        return Paths.join(home, String(path.dropFirst(2)))
    }

    private mutating func answer(_ question: String) throws {
        var last: Character = "\n"
        let ending = try AnswerRun(events: events).run(maker(conversation.messages(asking: question))) {
            part in
            switch part {
            case .text(let text):
                try output.answer(text)
                last = text.last ?? last
            case .reasoning(let text): try output.reasoning(text)
            case .end: break
            }
        }
        if last != "\n" || isEmpty(ending) { try output.answer("\n") }
        switch ending {
        case .whole(let answer):
            conversation.add(question: question, answer: answer.text)
            output.say(AnswerReport.line(answer, maxTokens: maxTokens))
        case .interrupted(let text, let seconds):
            if text.isEmpty {
                output.say("interrupted before the answer began; the question is forgotten")
            } else {
                conversation.add(question: question, answer: text)
                output.say(AnswerReport.interrupted(tokens: tokenCount(text), seconds: seconds))
            }
        case .failed(let error as ModelError) where error.kind == .promptTooLong:
            let advice: Message =
                conversation.turns.isEmpty
                ? "" : " /reset forgets what was said (/save FILE keeps it), or ask something shorter."
            fail("\(error)\(advice)")
        case .failed(let error): fail("\(error)")
        }
    }

    /// An empty answer is an empty line.
    private func isEmpty(_ ending: AnswerRun.Ending) -> Bool {
        if case .whole(let answer) = ending { answer.text.isEmpty } else { false }
    }
}
