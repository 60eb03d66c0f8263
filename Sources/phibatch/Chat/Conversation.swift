import JSON
import PhiModel

/// What was said in a chat so far.
struct Conversation: Equatable {
    var system: String?
    /// Questions and answers in turn.
    private(set) var turns: [ChatMessage] = []

    /// What the model is asked with a question.
    func messages(asking question: String) -> [ChatMessage] {
        start + turns + [ChatMessage(role: "user", content: question)]
    }

    private var start: [ChatMessage] { system.map { [ChatMessage(role: "system", content: $0)] } ?? [] }

    mutating func add(question: String, answer: String) {
        turns.append(ChatMessage(role: "user", content: question))
        turns.append(ChatMessage(role: "assistant", content: answer))
    }

    /// The system message stays.
    mutating func reset() { turns = [] }

    /// A line of a job's input, with its line feed. The messages end with the last question, which a job then
    /// answers; the answer it had here is in `answer`, which a job's templates may use.
    var inputLine: [UInt8]? {
        guard let answer = turns.last else { return nil }
        let writer = JSONWriter.object { line in
            line.array("messages") { list in
                for message in start + turns.dropLast() {
                    list.object { object in
                        object.string("role", message.role)
                        object.string("content", message.content)
                    }
                }
            }
            line.string("answer", answer.content)
        }
        return writer.bytes + [0x0A]
    }
}
