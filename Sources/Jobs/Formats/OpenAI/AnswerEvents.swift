import JSON

/// The events of an answer that somebody reads as it comes, each as a stream of server-sent events has it.
package protocol AnswerEvents: Sendable {
    /// More of a choice: text, or what was thought before it, which comes in one piece.
    mutating func more(_ text: String, of choice: Int, isThought: Bool) -> [UInt8]
    /// The rest, once all choices are there.
    /// - Parameter run: the digest of the run.
    mutating func end(_ results: [any TaskResult], run: String) -> [UInt8]
    /// What went wrong in the middle.
    /// - Parameter error: as it would be the answer's body.
    mutating func failure(_ error: JSONValue) -> [UInt8]
}

extension OpenAIReply {
    /// - Parameter tellsUsage: the last event of a chat or a completion says how many tokens it took.
    package func events(tellsUsage: Bool) -> any AnswerEvents {
        endpoint == .responses ? ResponseEvents(of: self) : ChoiceEvents(of: self, tellsUsage: tellsUsage)
    }
}

/// Those of a chat or a completion.
private struct ChoiceEvents: AnswerEvents {
    private let reply: OpenAIReply
    private let tellsUsage: Bool
    /// What was told of each choice.
    private var told: [Int: (bytes: Int, thought: Bool)] = [:]

    init(of reply: OpenAIReply, tellsUsage: Bool) { (self.reply, self.tellsUsage) = (reply, tellsUsage) }

    mutating func more(_ text: String, of choice: Int, isThought: Bool) -> [UInt8] {
        let known = told[choice]
        told[choice] = (
            (known?.bytes ?? 0) + (isThought ? 0 : text.utf8.count), known?.thought ?? false || isThought
        )
        return reply.more(text, of: choice, isThought: isThought, isFirst: known == nil)
    }

    mutating func end(_ results: [any TaskResult], run: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for (choice, result) in results.enumerated() {
            let told = told[choice]
            bytes += reply.end(
                result, of: choice, told: told?.bytes ?? 0, toldThought: told?.thought ?? false,
                isFirst: told == nil)
        }
        if tellsUsage { bytes += reply.usage(results.compactMap(\.completion)) }
        return bytes + OpenAIReply.event(of: Array("[DONE]".utf8))
    }

    mutating func failure(_ error: JSONValue) -> [UInt8] {
        OpenAIReply.event(of: Array(JSONWriter.text(of: error).utf8))
    }
}
