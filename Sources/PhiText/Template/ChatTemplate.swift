import FoundationShim
import JSON

/// Chat template of a model, which renders a conversation as the text that the model was trained on.
///
/// The language is Jinja2 as set up by Hugging Face transformers: `trim_blocks` and `lstrip_blocks` on, loop controls,
/// its `tojson`, `raise_exception`, and the tag `generation`. Unsupported features are errors when the template is
/// loaded, never differences in the text.
package struct ChatTemplate: Sendable {
    private let template: TextTemplate
    private let specialTokens: [String: JSONValue]

    /// Name of the template in messages: its file or its name.
    var place: String { template.place }

    /// - Parameters:
    ///   - specialTokens: texts by name, as in "eos_token".
    ///   - name: name in messages.
    /// - Throws: as `TextTemplate`.
    init(
        source: String, specialTokens: [String: JSONValue] = [:], path: String? = nil,
        name: String = "chat template", limits: TemplateLimits = TemplateLimits()
    ) throws {
        self.specialTokens = specialTokens
        template = try TextTemplate(source, isChat: true, path: path, name: name, limits: limits)
    }

    /// Renders a conversation.
    /// - Parameter addGenerationPrompt: whether to end with the beginning of the model's answer.
    /// - Throws: `UserError` of kind `badRequest` if the template refuses the messages or can't take them.
    package func render(_ messages: [ChatMessage], addGenerationPrompt: Bool) throws -> String {
        try render(
            messages: messages.map { message in
                let own: JSONObject = ["role": .string(message.role), "content": .string(message.content)]
                return .object(JSONObject(Array(own) + message.members))
            },
            addGenerationPrompt: addGenerationPrompt)
    }

    /// Whether a rendered text lacks the content of one of its messages.
    package func drops(_ index: Int, of messages: [ChatMessage], in text: String) throws -> Bool {
        let content = messages[index].content.utf8.drop { $0 <= 0x20 }
        guard let end = content.lastIndex(where: { $0 > 0x20 }) else { return false }
        // In place: the library's ranges would take eight bytes for each byte of a long text.
        let stands = text.utf8.withContiguousStorageIfAvailable { text in
            content[...end].withContiguousStorageIfAvailable {
                UnsafeRawBufferPointer(text).offset(of: UnsafeRawBufferPointer($0)) != nil
            } ?? false
        }
        guard stands != true else { return false }
        // It may be in another form, such as JSON. Then other content changes the text.
        var others = messages
        others[index].content = "-"
        return try render(others, addGenerationPrompt: true) == text
    }

    /// Renders messages with more members than role and content.
    package func render(messages: [JSONValue], addGenerationPrompt: Bool) throws -> String {
        try template.render { name in
            switch name {
            case "messages": .array(messages)
            case "add_generation_prompt": .bool(addGenerationPrompt)
            // transformers always passes these two.
            case "tools", "documents": .null
            default: specialTokens[name]
            }
        }
    }
}
