import JSON

/// One message of a conversation, as chat templates see it.
public struct ChatMessage: Sendable, Equatable, Codable {
    /// `system`, `user`, `assistant`, or another role of the model's template.
    public var role: String
    public var content: String
    /// Other members of the message, for templates that use them, such as Phi-4-mini's `tools`.
    package var members: [JSONMember] = []

    private enum CodingKeys: CodingKey {
        case role, content
    }

    public init(role: String, content: String) {
        self.role = role
        self.content = content
    }

    package init(role: String, content: String, members: [JSONMember]) {
        self.init(role: role, content: content)
        self.members = members
    }

    /// Returns the role of a name in a line, a job or a body; `developer` is OpenAI's newer name of `system`. Nil if it
    /// is none of `roles`.
    package static func role(named name: String) -> String? {
        name == "developer" ? "system" : roles.first { $0 == name }
    }

    package static let roles = ["system", "user", "assistant", "tool"]
}

/// Text of a request, before it becomes token ids.
public enum Prompt: Sendable, Equatable {
    /// Messages to render with the model's chat template, followed by a generation prompt.
    case messages([ChatMessage])
    /// The same, followed by the beginning of the answer, which the model continues.
    case continued([ChatMessage], prefix: String)
    /// Text for the tokenizer without a template.
    case text(String)
    /// Token ids; no tokenizer is needed.
    case tokens([Int32])

    /// One message of a user.
    public static func user(_ content: String) -> Prompt {
        .messages([ChatMessage(role: "user", content: content)])
    }
}
