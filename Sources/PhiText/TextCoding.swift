import BatchEngine
import JSON

/// Converter of text to token ids and back. May be called from any thread.
package protocol TextCoding: Sendable {
    /// False if the folder has no tokenizer; then only `Prompt.tokens` can be served.
    var hasTokenizer: Bool { get }
    /// - Parameter contextLength: a prompt of text must have fewer tokens, and is not looked at further once it is
    ///   clear that it has not; nil for any length. (Of a list of ids the length is the caller's to check.)
    /// - Throws: `ModelError` of kind `badRequest` if the prompt can't be expressed, or `promptTooLong`.
    /// - Parameter shield: what covers texts of control tokens in the prompt.
    func tokens(for prompt: Prompt, contextLength: Int?, shield: ControlTokenEscaper?) throws -> [Int32]
    /// Guard that keeps texts of control tokens in a line from becoming control; nil if it has none.
    func shield(for line: JSONValue) -> ControlTokenEscaper?
    func makeTextStream() -> any TextStream
    /// As `makeTextStream()`, with the texts of some tokens that it would leave out.
    func makeTextStream(showing tokens: Set<Int32>) -> any TextStream
    /// The text of one token by itself (U+FFFD where it holds part of a character), and its bytes.
    func piece(of token: Int32) -> (text: String, bytes: [UInt8])
    /// Form in which calls of functions are written; nil where they can't be.
    var tools: ToolText? { get }
    /// Form of reasoning before answers; nil where there can be none.
    var reasonings: ReasoningText? { get }
    /// All tokens' texts, made anew with each call; nil where answers can't be constrained by them.
    var tokenTexts: TokenTexts? { get }
}

extension TextCoding {
    package var tokenTexts: TokenTexts? { nil }
    package var reasonings: ReasoningText? { nil }
    package var tools: ToolText? { nil }

    package func makeTextStream(showing tokens: Set<Int32>) -> any TextStream { makeTextStream() }

    /// A prompt of any length.
    package func tokens(for prompt: Prompt) throws -> [Int32] { try tokens(for: prompt, contextLength: nil) }

    package func tokens(for prompt: Prompt, contextLength: Int?) throws -> [Int32] {
        try tokens(for: prompt, contextLength: contextLength, shield: nil)
    }
}

extension TextCodec: TextCoding {
    package var hasTokenizer: Bool { true }
}

/// The text of a model without a tokenizer: none.
package struct NoText: TextCoding {
    package let hasTokenizer = false

    package init() {}

    package func shield(for line: JSONValue) -> ControlTokenEscaper? { nil }

    package func tokens(for prompt: Prompt, contextLength: Int?, shield: ControlTokenEscaper?) throws
        -> [Int32]
    {
        if case .tokens(let ids) = prompt { return ids }
        throw ModelError(
            .badRequest, "this model folder has no tokenizer.json, so prompts must be lists of token ids")
    }

    package func makeTextStream() -> any TextStream { Stream() }
    package func piece(of token: Int32) -> (text: String, bytes: [UInt8]) { ("", []) }

    private struct Stream: TextStream {
        mutating func append(_ token: Int32) -> String { "" }
        mutating func finish() -> String { "" }
    }
}
