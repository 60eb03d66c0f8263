import BatchEngine
import JSON
import OperatingSystem

@_exported import struct Errors.UserError

/// A model's tokenizer and chat template. Needs no weights.
package struct TextCodec: Sendable {
    package let tokenizer: Tokenizer
    /// Nil if the folder has none; then only `Prompt.text` can be served.
    package let template: ChatTemplate?
    package let reasonings: ReasoningText?
    package let tools: ToolText?

    /// Nil if `folder` has neither tokenizer.json nor cl100k_base.tiktoken.
    /// - Throws: `UserError` for a tokenizer or template that is not supported.
    package init?(folder: String) throws {
        let files = ["tokenizer.json", TiktokenFile.name].map { Paths.join(folder, $0) }
        guard let file = files.first(where: { Files.kind(of: $0) != nil }) else { return nil }
        tokenizer = try Tokenizer(path: file)
        template = try ChatTemplate.load(path: folder)
        reasonings = try ReasoningText(tokenizer, folder: folder)
        tools = ToolText(tokenizer)
    }

    /// - Parameter contextLength: bound of a text prompt's tokens, at which tokenizing stops early; nil for none.
    /// - Throws: `UserError` of kind `badRequest` or `promptTooLong`.
    package func tokens(for prompt: Prompt, contextLength: Int?, shield: ControlTokenEscaper?) throws
        -> [Int32]
    {
        switch prompt {
        case .tokens(let ids): return ids
        case .text(let text): return try encode(text, addSpecialTokens: true, contextLength, shield)
        case .messages(let messages):
            // The template writes the special tokens itself.
            return try encode(try text(of: messages), addSpecialTokens: false, contextLength, shield)
        case .continued(let messages, let prefix):
            return try encode(try text(of: messages) + prefix, addSpecialTokens: false, contextLength, shield)
        }
    }

    package func shield(for line: JSONValue) -> ControlTokenEscaper? {
        tokenizer.controlTokens.shield(for: line)
    }

    private func encode(
        _ text: String, addSpecialTokens: Bool, _ contextLength: Int?, _ shield: ControlTokenEscaper?
    ) throws -> [Int32] {
        let most = contextLength.map { max(0, $0 - 1) } ?? .max
        guard
            let ids = tokenizer.encode(
                text, addSpecialTokens: addSpecialTokens, shield: shield, atMost: most)
        else {
            let contextLength = contextLength ?? .max
            throw UserError(
                .promptTooLong,
                "The prompt has more than \(most) tokens (\(text.utf8.count) bytes of text), but the model's context "
                    + "holds \(contextLength), completion included.")
        }
        return ids
    }

    /// Renders messages with the chat template, followed by a generation prompt.
    /// - Throws: `UserError` of kind `badRequest`.
    package func text(of messages: [ChatMessage]) throws -> String {
        guard let template else {
            throw UserError(
                .badRequest,
                "this model has no chat template, so messages can't be put to it; give plain text "
                    + "(chat: false) or token ids")
        }
        let text = try template.render(messages, addGenerationPrompt: true)
        for index in messages.indices where try template.drops(index, of: messages, in: text) {
            throw UserError(
                .badRequest,
                "the chat template (\(template.place)) leaves out messages[\(index)], of the role \(messages[index].role)"
            )
        }
        return text
    }

    /// Tokens that end a turn in Phi-3 and Phi-4-mini, and in Phi-4; part of the engine's identity.
    package static let turnEndNames = ["<|end|>", "<|im_end|>"]

    /// Special tokens among `turnEndNames`. Some conversions list only the end of text as the end of sequence; answers
    /// would then continue with further turns.
    package var turnEnds: [Int32] {
        Self.turnEndNames.compactMap { tokenizer.id(of: $0) }.filter(tokenizer.isSpecial)
    }

    package func makeTextStream(showing tokens: Set<Int32>) -> any TextStream {
        tokenizer.makeTextStream(showing: tokens)
    }

    package func piece(of token: Int32) -> (text: String, bytes: [UInt8]) {
        (tokenizer.text(of: token), tokenizer.bytes(of: token))
    }
}
