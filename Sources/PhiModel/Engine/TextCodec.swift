import Foundation

/// A model's tokenizer and chat template: how text becomes token ids and back.
public struct TextCodec: Sendable {
    public init?(folder: String) throws { return nil }
    public func tokens(for prompt: Prompt) throws -> [Int32] { [] }
    public func makeTextStream() -> any TextStream { fatalError() }
    public func piece(of token: Int32) -> (text: String, bytes: [UInt8]) { ("", []) }
}
