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

extension ChatMessage {
    /// Reads a message of a line or a body. Its content is a string, or a list of text parts as in OpenAI's API; beside
    /// calls of tools it may be missing.
    /// - Throws: the reason why it is none, in words that follow its name.
    package init(_ json: JSONValue) throws(JSONFault) {
        var content: String?
        switch json["content"] {
        case .string(let text)?: content = text
        case .array(let parts)?:
            for case .string(let kind)? in parts.map({ $0["type"] }) where kind != "text" {
                throw JSONFault(
                    "has a part of type `\(kind)`: only text is read, and no images, sounds or files")
            }
            content = Self.text(of: parts)
        default: break
        }
        guard case .object(let members) = json, case .string(let name)? = json["role"],
            let content = content ?? (json["tool_calls"] == nil ? nil : "")
        else { throw JSONFault("must be an object with `role` and `content`, both strings") }
        guard let role = Self.role(named: name) else {
            throw JSONFault(
                "has the role `\(name.prefix(64))`; roles are \(Self.roles.joined(separator: ", ")), and developer for system"
            )
        }
        let others = members.filter { $0.name != "role" && $0.name != "content" }
        self.init(role: role, content: content, members: others)
    }

    /// Returns the text of a message's parts; nil if one is no text.
    package static func text(of parts: [JSONValue]) -> String? {
        var whole = ""
        for part in parts {
            guard let type = part.string("type"),
                let text = part.string(type.hasSuffix("text") ? "text" : "refusal"),
                ["text", "input_text", "output_text", "refusal"].contains(type)
            else { return nil }
            whole += text
        }
        return whole
    }

    /// The message's role, its other members and its content, in this order.
    package var json: JSONObject {
        let role = JSONMember(name: "role", value: .string(role))
        return JSONObject([role] + members + [JSONMember(name: "content", value: .string(content))])
    }
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
