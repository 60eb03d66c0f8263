import JSON
import PhiText

/// Turns JSONL lines with `text` or `messages` into lines with token `ids`, or ids back into text.
package struct TokenizeLines {
    package enum Direction: Sendable {
        /// `addsSpecialTokens`: the tokens that the tokenizer puts around a text; for messages, the chat template
        /// writes them. `generationPrompt`: ends a conversation with the beginning of the answer.
        case encode(addsSpecialTokens: Bool, generationPrompt: Bool)
        /// `skipsSpecialTokens`: omits tokens such as the end of sequence.
        case decode(skipsSpecialTokens: Bool)
    }

    private let codec: TextCodec
    private let direction: Direction

    package init(codec: TextCodec, direction: Direction) {
        self.codec = codec
        self.direction = direction
    }

    /// Reads all lines of `inputs` and passes a line of JSON for each, without its line feed, to `output`.
    /// - Throws: `UserError` with file and line for the first invalid line.
    package func run(inputs: [String], output: ([UInt8]) throws -> Void) throws {
        var reader = InputReader(paths: inputs)
        while let line = try reader.next() {
            let found: (ids: [Int32], text: String)
            do { found = try result(of: line.content().fields) } catch let error as LineError {
                throw UserError(.badJob, at: "\(line.file):\(line.number)", error.message)
            } catch let error as UserError where [.badRequest, .promptTooLong].contains(error.kind) {
                throw UserError(.badJob, at: "\(line.file):\(line.number)", error.message)
            }
            try output(encoded(found))
        }
    }

    private func result(of fields: JSONValue) throws -> (ids: [Int32], text: String) {
        switch direction {
        case .encode(let addsSpecialTokens, let generationPrompt):
            if let messages = try fields.messages() {
                guard let template = codec.template else {
                    throw UserError(.badRequest, "This model has no chat template; give `text`.")
                }
                let text = try template.render(messages, addGenerationPrompt: generationPrompt)
                return (codec.tokenizer.encode(text, addSpecialTokens: false), text)
            }
            guard case .string(let text)? = fields["text"] else {
                throw LineError(.badField, "The line needs `text` (a string) or `messages`.")
            }
            return (codec.tokenizer.encode(text, addSpecialTokens: addsSpecialTokens), text)
        case .decode(let skipsSpecialTokens):
            guard let ids = try fields.tokenIDs("ids") else {
                throw LineError(.badField, "The line needs `ids`, a list of token ids.")
            }
            let last = codec.tokenizer.vocabularySize - 1
            if let wrong = ids.first(where: { $0 > last }) {
                throw LineError(
                    .badField, "`ids` holds the token id \(wrong), but the tokenizer's ids end at \(last).")
            }
            return (ids, codec.tokenizer.decode(ids, skipSpecialTokens: skipsSpecialTokens))
        }
    }

    private func encoded(_ result: (ids: [Int32], text: String)) -> [UInt8] {
        JSONWriter.object { writer in
            writer.array("ids") { writer in for id in result.ids { writer.int(id) } }
            writer.string("text", result.text)
        }.bytes
    }
}
