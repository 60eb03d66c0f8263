import BatchEngine
import JSON

/// Conversion of text to token ids and back. Safe to call from any thread.
package protocol TextCoding: Sendable {
    /// False if the folder has no tokenizer; then only `Prompt.tokens` can be served.
    var hasTokenizer: Bool { get }
    /// - Parameter contextLength: bound of a text prompt's tokens, at which tokenizing stops early; nil for none.
    ///   (The caller checks the length of a list of ids.)
    /// - Throws: `UserError` of kind `badRequest` if the prompt can't be encoded, or `promptTooLong`.
    /// - Parameter shield: escaper of control tokens in the prompt's data.
    func tokens(for prompt: Prompt, contextLength: Int?, shield: ControlTokenEscaper?) throws -> [Int32]
    /// Returns an escaper of the control tokens in a line; nil if the line has none.
    func shield(for line: JSONValue) -> ControlTokenEscaper?
    /// - Parameter tokens: tokens to show that would be left out.
    func makeTextStream(showing tokens: Set<Int32>) -> any TextStream
    /// Returns the text of one token alone (U+FFFD for a partial character), and its bytes.
    func piece(of token: Int32) -> (text: String, bytes: [UInt8])
    /// Form of tool calls; nil if they are not possible.
    var tools: ToolText? { get }
    /// Form of reasoning before answers; nil if it is not possible.
    var reasonings: ReasoningText? { get }
    /// Texts of all tokens, computed at each call; nil if answers can't be constrained by them.
    var tokenTexts: TokenTexts? { get }
}

extension TextCoding {
    package var tokenTexts: TokenTexts? { nil }
    package var reasonings: ReasoningText? { nil }
    package var tools: ToolText? { nil }

    package func makeTextStream() -> any TextStream { makeTextStream(showing: []) }

    /// Tokenizes a prompt of any length.
    package func tokens(for prompt: Prompt) throws -> [Int32] { try tokens(for: prompt, contextLength: nil) }

    package func tokens(for prompt: Prompt, contextLength: Int?) throws -> [Int32] {
        try tokens(for: prompt, contextLength: contextLength, shield: nil)
    }
}

extension TextCodec: TextCoding {
    package var hasTokenizer: Bool { true }
    package var tokenTexts: TokenTexts? { tokenizer.tokenTexts }
}

/// Conversion for a model without a tokenizer.
package struct NoText: TextCoding {
    package let hasTokenizer = false

    package init() {}

    package func shield(for line: JSONValue) -> ControlTokenEscaper? { nil }

    package func tokens(for prompt: Prompt, contextLength: Int?, shield: ControlTokenEscaper?) throws
        -> [Int32]
    {
        if case .tokens(let ids) = prompt { return ids }
        throw UserError(
            .badRequest, "this model folder has no tokenizer.json, so prompts must be lists of token ids")
    }

    package func makeTextStream(showing tokens: Set<Int32>) -> any TextStream { Stream() }
    package func piece(of token: Int32) -> (text: String, bytes: [UInt8]) { ("", []) }

    private struct Stream: TextStream {
        mutating func append(_ token: Int32) -> String { "" }
        mutating func finish() -> String { "" }
    }
}
