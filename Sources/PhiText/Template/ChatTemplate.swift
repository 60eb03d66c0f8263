import FoundationShim
import JSON

/// A model's own template, which turns a conversation into the text the model was trained on.
///
/// Reads Jinja2 as Hugging Face transformers sets it up: `trim_blocks` and `lstrip_blocks` on, loop controls,
/// its `tojson`, `raise_exception`, and the tag `generation`. What is not supported is an error when the
/// template is loaded, never a difference in the text.
package struct ChatTemplate: Sendable {
    private let program: TemplateProgram
    private let specialTokens: [String: JSONValue]
    private let path: String?
    private let name: String
    private let limits: TemplateLimits

    /// The template for messages: its file, or a name.
    var place: String { path ?? name }

    /// Reads and checks a template.
    /// - Parameters:
    ///   - specialTokens: Text by name, as in "eos_token".
    ///   - name: What messages call it.
    /// - Throws: `ModelError` of kind `malformed` for broken syntax, `unsupported` for a tag, filter, test,
    ///   function or method that phibatch does not have. The message names line and construct.
    init(
        source: String, specialTokens: [String: JSONValue] = [:], path: String? = nil,
        name: String = "chat template", limits: TemplateLimits = TemplateLimits()
    ) throws {
        self.specialTokens = specialTokens
        self.path = path
        self.name = name
        self.limits = limits
        program = try TemplateFault.located(path: path, place: name) {
            try TemplateProgram(source, .chat, limits: limits)
        }
    }

    /// The prompt text of a conversation.
    /// - Parameter addGenerationPrompt: Whether the text ends with the beginning of the model's answer.
    /// - Throws: `ModelError` of kind `badRequest` if the template refuses the messages or can't take them.
    package func render(_ messages: [ChatMessage], addGenerationPrompt: Bool) throws -> String {
        try render(
            messages: messages.map { message in
                let own: JSONObject = ["role": .string(message.role), "content": .string(message.content)]
                return .object(JSONObject(Array(own) + message.members))
            },
            addGenerationPrompt: addGenerationPrompt)
    }

    /// Whether a text that was rendered of messages has nothing of one of them, although that has some content.
    package func drops(_ index: Int, of messages: [ChatMessage], in text: String) throws -> Bool {
        let content = messages[index].content.utf8.drop { $0 <= 0x20 }
        guard let end = content.lastIndex(where: { $0 > 0x20 }) else { return false }
        // In place: a range of the library's would take eight bytes for each of a long text.
        let stands = text.utf8.withContiguousStorageIfAvailable { text in
            content[...end].withContiguousStorageIfAvailable { Self.stands($0, in: text) } ?? false
        }
        guard stands != true else { return false }
        // It may stand there in another form, such as JSON, or without its reasoning. Then another content makes another text.
        var others = messages
        others[index].content = "-"
        return try render(others, addGenerationPrompt: true) == text
    }

    private static func stands(
        _ part: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard let first = part.first, let bytes = part.baseAddress, let base = text.baseAddress else {
            return true
        }
        var start = 0
        while start + part.count <= text.count,
            let found = memchr(base + start, Int32(first), text.count - part.count - start + 1)
        {
            if memcmp(found, bytes, part.count) == 0 { return true }
            start = found - UnsafeMutableRawPointer(mutating: base) + 1
        }
        return false
    }

    /// As `render(_:addGenerationPrompt:)`, for messages with more members than role and content.
    package func render(messages: [JSONValue], addGenerationPrompt: Bool) throws -> String {
        try TemplateFault.located(path: path, place: name) {
            try Evaluator.render(program, limits: limits) { name in
                switch name {
                case "messages": .array(messages)
                case "add_generation_prompt": .bool(addGenerationPrompt)
                // transformers always gives these two.
                case "tools", "documents": .null
                default: specialTokens[name]
                }
            }
        }
    }
}
