import BatchEngine
import JSON

/// Format of tools, calls and their results in prompts and answers.
///
/// Phi-4-mini has tokens for calls, and its chat template a place for tools. For other models the system message
/// describes them, and plain text marks calls.
package struct ToolText: Sendable {
    /// Texts before and after a list of calls.
    package let opening: String
    private let closing: String
    package let openingTokens: [Int32]
    /// Tokens of marks that text streams would leave out.
    package let shown: Set<Int32>
    private let isPhi: Bool

    init(_ tokenizer: Tokenizer) {
        let phi = ["<|tool_call|>", "<|/tool_call|>", "<|tool|>", "<|tool_response|>"]
            .compactMap { tokenizer.id(of: $0) }
        isPhi = phi.count == 4
        (opening, closing) = isPhi ? ("<|tool_call|>", "<|/tool_call|>") : ("<tool_call>", "</tool_call>")
        openingTokens = tokenizer.encode(continuing: opening, isControl: true)
        shown = isPhi ? Set(phi.prefix(2)) : []
    }

    /// Creates the format for a model with a foreign tokenizer.
    package init(opening: String, closing: String, openingTokens: [Int32]) {
        (self.opening, self.closing, self.openingTokens) = (opening, closing, openingTokens)
        (shown, isPhi) = ([], false)
    }

    /// Splits an answer into words and calls, which are nil if there are none.
    package func parts(of answer: String) -> (words: String, calls: String?) {
        let bytes = answer.utf8
        guard let mark = bytes.firstRange(of: opening.utf8) else { return (answer, nil) }
        let words = answer[..<mark.lowerBound]
        let end = words.lastIndex { !$0.isWhitespace }
        return (end.map { String(words[...$0]) } ?? "", String(answer[mark.upperBound...]))
    }

    /// Returns a conversation that describes the tools to the model.
    /// - Parameter functions: a list of objects with `name`, and optional `description` and `parameters`.
    package func asking(_ messages: [ChatMessage], functions: JSONValue) -> [ChatMessage] {
        var messages = messages
        if messages.first?.role != "system" {
            messages.insert(ChatMessage(role: "system", content: ""), at: 0)
        }
        let list = JSONWriter.text(of: functions)
        if isPhi {
            if messages[0].content.isEmpty {
                messages[0].content = "You are a helpful assistant with some tools."
            }
            messages[0].members.removeAll { $0.name == "tools" }
            messages[0].members.append(JSONMember(name: "tools", value: .string(list)))
        } else {
            let system = messages[0].content
            messages[0].content =
                (system.isEmpty ? "" : system + "\n\n")
                + "You may call functions. To do so write \(opening), then a JSON list of the calls such as "
                + "[{\"name\": \"NAME\", \"arguments\": {}}], then \(closing), and nothing more. If no function helps, "
                + "answer in words. The functions, with the JSON Schema of their arguments:\n\(list)"
        }
        return messages
    }

    /// Returns a conversation with calls and results in the model's format.
    package func written(_ messages: [ChatMessage]) -> [ChatMessage] {
        messages.map { message in
            var message = message
            if let calls = message.members.first(where: { $0.name == "tool_calls" })?.value {
                message.members.removeAll { $0.name == "tool_calls" }
                message.content += opening + JSONWriter.text(of: Self.plain(calls)) + closing
            }
            if message.role == "tool" {
                message.members = []
                if isPhi {
                    message.role = "tool_response"
                } else {
                    message = ChatMessage(
                        role: "user", content: "<tool_response>\n\(message.content)\n</tool_response>")
                }
            }
            return message
        }
    }

    /// Converts OpenAI's calls to a model's: names, and arguments as objects.
    private static func plain(_ calls: JSONValue) -> JSONValue {
        guard case .array(let calls) = calls else { return calls }
        return .array(
            calls.map { call in
                let function = call["function"] ?? call
                var arguments = function["arguments"] ?? [:]
                if case .string(let text) = arguments {
                    arguments = (try? JSONValue(parsing: Array(text.utf8), limits: .line)) ?? arguments
                }
                return ["name": function["name"] ?? .null, "arguments": arguments]
            })
    }
}
