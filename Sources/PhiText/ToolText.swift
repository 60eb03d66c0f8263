import BatchEngine
import JSON

/// Format of tools, calls and their results in prompts and answers. Calls stand between two marks. A further format is a
/// value, and a line of `all`.
package struct ToolText: Sendable {
    /// Phi-4-mini has tokens for calls, and its chat template a place for tools.
    private static let phi = ToolText(
        opening: "<|tool_call|>", closing: "<|/tool_call|>",
        controls: ["<|tool_call|>", "<|/tool_call|>", "<|tool|>", "<|tool_response|>"]
    ) { _, system, list in
        if system.content.isEmpty { system.content = "You are a helpful assistant with some tools." }
        system.members.removeAll { $0.name == "tools" }
        system.members.append(JSONMember(name: "tools", value: .string(list)))
    } result: {
        ChatMessage(role: "tool_response", content: $0)
    }

    /// For other models the system message describes tools, and plain text marks calls.
    private static let plain = ToolText(opening: "<tool_call>", closing: "</tool_call>") {
        own, system, list in
        system.content +=
            (system.content.isEmpty ? "" : "\n\n")
            + "You may call functions. To do so write \(own.opening), then a JSON list of the calls such as "
            + "[{\"name\": \"NAME\", \"arguments\": {}}], then \(own.closing), and nothing more. If no function helps, "
            + "answer in words. The functions, with the JSON Schema of their arguments:\n\(list)"
    } result: {
        ChatMessage(role: "user", content: "<tool_response>\n\($0)\n</tool_response>")
    }

    /// The first whose control tokens a tokenizer has is a model's.
    private static let all = [phi, plain]

    /// Texts before and after calls.
    package private(set) var opening: String
    private var closing: String
    private let controls: [String]
    /// Describes a list of functions in the system message.
    private let describe: @Sendable (ToolText, _ system: inout ChatMessage, _ list: String) -> Void
    /// Returns the message of a call's result.
    private let result: @Sendable (_ content: String) -> ChatMessage
    package private(set) var openingTokens: [Int32] = []
    /// Tokens of marks that text streams would leave out.
    package private(set) var shown: Set<Int32> = []

    private init(
        opening: String, closing: String, controls: [String] = [],
        describe: @escaping @Sendable (ToolText, _ system: inout ChatMessage, _ list: String) -> Void,
        result: @escaping @Sendable (_ content: String) -> ChatMessage
    ) {
        (self.opening, self.closing, self.controls) = (opening, closing, controls)
        (self.describe, self.result) = (describe, result)
    }

    init(_ tokenizer: Tokenizer) {
        self = Self.all.first { $0.controls.allSatisfy { tokenizer.id(of: $0) != nil } } ?? .plain
        openingTokens = tokenizer.encode(continuing: opening, isControl: true)
        if !controls.isEmpty { shown = Set([opening, closing].compactMap { tokenizer.id(of: $0) }) }
    }

    /// Creates the format for a model with a foreign tokenizer.
    package init(opening: String, closing: String, openingTokens: [Int32]) {
        self = .plain
        (self.opening, self.closing, self.openingTokens) = (opening, closing, openingTokens)
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
        describe(self, &messages[0], JSONWriter.text(of: functions))
        return messages
    }

    /// Returns a conversation with calls and results in the model's format.
    package func written(_ messages: [ChatMessage]) -> [ChatMessage] {
        messages.map { message in
            var message = message
            if let calls = message.members.first(where: { $0.name == "tool_calls" })?.value {
                message.members.removeAll { $0.name == "tool_calls" }
                message.content += opening + JSONWriter.text(of: plain(calls)) + closing
            }
            return message.role == "tool" ? result(message.content) : message
        }
    }

    /// Converts OpenAI's calls to a model's: names, and arguments as objects.
    private func plain(_ calls: JSONValue) -> JSONValue {
        guard case .array(let calls) = calls else { return calls }
        return .array(
            calls.map { call in
                let function = call["function"] ?? call
                var arguments = function["arguments"] ?? [:]
                if case .string(let text) = arguments {
                    arguments = (try? JSONValue(parsing: Array(text.utf8), limits: .line)) ?? arguments
                }
                var name: JSONValue = ""
                if case .string? = function["name"] { name = function["name"] ?? name }
                return ["name": name, "arguments": arguments]
            })
    }
}
