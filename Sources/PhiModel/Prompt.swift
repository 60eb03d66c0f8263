import Foundations

/// One message of a conversation, as chat templates see it.
package struct ChatMessage: Sendable, Equatable, Codable {
    package var role: String
    package var content: String
    /// What else the message has for templates that use it, such as Phi-4-mini's `tools`.
    package var members: [JSONMember] = []

    private enum CodingKeys: CodingKey {
        case role, content
    }

    package init(role: String, content: String, members: [JSONMember] = []) {
        self.role = role
        self.content = content
        self.members = members
    }
}

/// What a request's text is made of, before it becomes token ids.
package enum Prompt: Sendable, Equatable {
    /// Messages that go through the model's chat template, with a generation prompt behind them.
    case messages([ChatMessage])
    /// Text given to the tokenizer as it is, without a template.
    case text(String)
    /// Token ids, used as they are; needs no tokenizer.
    case tokens([Int32])
}
