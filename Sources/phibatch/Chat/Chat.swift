import Faults
import JSON
import OperatingSystem
import PhiModel

/// Conversation between whoever writes the lines and a model.
struct Chat {
    struct Output {
        /// Shows the model's text.
        var answer: (String) throws -> Void
        /// Shows the model's reasoning before its answer.
        var reasoning: (String) throws -> Void
        /// Tells of events.
        var say: (Message) -> Void
        /// Tells what a command asked for.
        var tell: (Message) -> Void
        var fail: (Message) -> Void
        var isInterrupted: () -> Bool
    }

    typealias AnswerMaker = @Sendable ([ChatMessage]) -> any AsyncSequence<AnswerPart, any Error> & Sendable

    var system: String?
    let maxTokens: Int
    let output: Output
    let maker: AnswerMaker
    /// Questions and answers in turn.
    private(set) var turns: [ChatMessage] = []
    /// Number of lines that failed.
    private(set) var failures = 0

    static let commands = ["/help", "/quit", "/reset", "/save", "/system"]

    static let help: Message = """
        COMMANDS:
          /reset          forget what was said; the system message stays
          /system TEXT    another system message, from the next answer on; alone, show it; "" takes it away
          /save FILE      write the conversation to a new JSONL file, as a line of a job's input
          /help, /quit    this list; the end
          //TEXT          a question that begins with a slash
        """

    init(system: String?, maxTokens: Int, output: Output, maker: @escaping AnswerMaker) {
        (self.system, self.maxTokens, self.output, self.maker) = (system, maxTokens, output, maker)
    }

    /// Answers lines until they end, or one is `/quit`.
    /// - Throws: an error of the output.
    mutating func run(_ next: () -> ChatLine) throws {
        while true {
            switch next() {
            case .end: return
            case .interrupted: output.say("Ctrl-D ends the chat")
            case .notText(let number): fail("stdin:\(number): the line is not valid UTF-8.")
            case .text(let line): if try !take(line) { return }
            }
        }
    }

    private mutating func fail(_ message: Message) {
        failures += 1
        output.fail(message)
    }

    /// - Returns: false at `/quit`.
    private mutating func take(_ line: String) throws -> Bool {
        guard !line.allSatisfy(\.isWhitespace) else { return true }
        guard line.hasPrefix("/"), !line.hasPrefix("//") else {
            try answer(line.hasPrefix("/") ? String(line.dropFirst()) : line)
            return true
        }
        let words = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        var rest = String(words.dropFirst().last?.drop(while: \.isWhitespace) ?? "")
        while rest.last?.isWhitespace == true { rest.removeLast() }
        switch (String(words[0]), rest) {
        case ("/quit", ""): return false
        case ("/help", ""): output.tell(Self.help)
        case ("/reset", ""):
            turns = []
            output.tell("what was said is forgotten\(system == nil ? "" : "; the system message stays")")
        case ("/system", ""):
            output.tell(system.map { "the system message is: \($0)" } ?? "there is no system message")
        case ("/system", _):
            system = rest == "\"\"" ? nil : rest
            output.tell("the system message is \(system == nil ? "empty" : "set"), from the next answer on")
        case ("/save", let path) where !path.isEmpty: save(path)
        case (let word, _):
            let hint = Self.commands.contains(word) ? "" : NearMiss.hint(for: word, among: Self.commands)
            fail(
                "\(line) is not a command.\(hint) /help lists them; //TEXT is a text that begins with a slash."
            )
        }
        return true
    }

    private var opening: [ChatMessage] { system.map { [ChatMessage(role: "system", content: $0)] } ?? [] }

    /// Writes a line of a job's input: the messages up to the last question, and its answer beside them.
    private mutating func save(_ path: String) {
        guard let last = turns.last else { return fail("there is nothing to save yet.") }
        let line = JSONWriter.object { line in
            line.array("messages") { list in
                for message in opening + turns.dropLast() {
                    list.object { object in
                        object.string("role", message.role)
                        object.string("content", message.content)
                    }
                }
            }
            line.string("answer", last.content)
        }
        guard Files.kind(of: path) == nil, !Files.isLink(path) else {
            return fail("\(path) is there already; name a new file.")
        }
        do throws(Files.Failure) {
            try Files.replaceContents(of: path, with: line.bytes + [0x0A])
            output.tell("\(path) has the messages up to your last question, with its answer beside them")
        } catch { fail("\(path) can't be written: \(error.reason).") }
    }

    private mutating func answer(_ question: String) throws {
        let asked = turns + [ChatMessage(role: "user", content: question)]
        let stream = maker(opening + asked)
        let parts = Mailbox<Result<AnswerPart, any Error>>()
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
            let isTooLong = (problem as? ModelError)?.kind == .promptTooLong && !turns.isEmpty
            return fail(
                "\(problem)\(isTooLong ? " /reset forgets what was said (/save FILE keeps it)." : "")")
        }
        guard answer != nil || !text.isEmpty else {
            return output.say("interrupted before the answer began; the question is forgotten")
        }
        turns = asked + [ChatMessage(role: "assistant", content: text)]
        output.say(answer.map(report) ?? "interrupted")
    }

    /// Returns the number of tokens, their speed, and why the answer ended, unless the model ended it.
    private func report(_ answer: Answer) -> Message {
        let count = answer.tokens.count
        let speed = (answer.tokensPerSecond * 10).rounded() / 10
        let ending: Message =
            switch answer.ending {
            case .stop: ""
            case .stopSequence: "; a stop string came up"
            case .reasoningLength:
                "; the thought had no end: --max-tokens is \(maxTokens), --max-reasoning-tokens ends it"
            case .length where count >= maxTokens: "; length: --max-tokens is \(maxTokens)"
            case .length:
                "; length: the model's context is full. /reset forgets what was said (/save FILE keeps it)."
            }
        return "\(count) token\(count == 1 ? "" : "s")\(speed > 0 ? ", \(speed) tokens/s" : "")\(ending)"
    }
}
