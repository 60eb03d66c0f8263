import ArgumentParser
import BatchPipeline
import FoundationShim
import JSON
import OperatingSystem
import PhiModel

struct TokenizeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokenize",
        abstract: "Turn text or chat messages into token ids, or ids into text.",
        discussion: """
            Reads JSONL, each line with "text" or "messages" (or "ids", with --decode), and writes \
            {"ids": [...], "text": "..."} for each. Needs the model's tokenizer, but no weights.

            EXAMPLE:
              echo '{"text": "Hello!"}' | phibatch tokenize --model models/phi-4-mini
            """)

    @Option(help: "The model: a folder, a GGUF file or a name.", completion: .directory)
    var model: String

    @Flag(help: "Turn ids into text.")
    var decode = false

    @Flag(help: "Add the tokenizer's tokens around a text, such as a beginning of sequence.")
    var addSpecialTokens = false

    @Flag(help: "End a conversation without the beginning of the answer.")
    var noGenerationPrompt = false

    @Flag(help: "With --decode: leave special tokens out of the text.")
    var skipSpecialTokens = false

    @Argument(help: "JSONL files, or - for stdin.", completion: .file())
    var files: [String] = ["-"]

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let folder = try ModelFetch.folder(model)
        guard let codec = try TextCodec(folder: folder) else {
            throw UserError(.missing, at: folder, "the folder has no tokenizer.json.")
        }
        Console(isQuiet: false).hint(atTerminalOf: files)
        let output = StandardOutput()
        var reader = InputReader(paths: files)
        while let line = try reader.next() {
            let (ids, text): ([Int32], String)
            do {
                let fields = try line.content().fields
                (ids, text) = try decode ? decoded(fields, codec) : encoded(fields, codec)
            } catch let error as LineError {
                throw UserError(.badJob, at: "\(line.file):\(line.number)", error.message)
            } catch let error as UserError where [.badRequest, .promptTooLong].contains(error.kind) {
                throw UserError(.badJob, at: "\(line.file):\(line.number)", error.message)
            }
            let writer = JSONWriter.object { writer in
                writer.array("ids", ids) { $0.int($1) }
                writer.string("text", text)
            }
            try output.write(line: writer.bytes)
        }
        try output.flush()
    }

    private func encoded(_ fields: JSONValue, _ codec: TextCodec) throws -> ([Int32], String) {
        if let messages = try fields.messages() {
            guard let template = codec.template else {
                throw UserError(.badRequest, "This model has no chat template; give `text`.")
            }
            let text = try template.render(messages, addGenerationPrompt: !noGenerationPrompt)
            return (codec.tokenizer.encode(text, addSpecialTokens: false), text)
        }
        guard case .string(let text)? = fields["text"] else {
            throw LineError(.badField, "The line needs `text` (a string) or `messages`.")
        }
        return (codec.tokenizer.encode(text, addSpecialTokens: addSpecialTokens), text)
    }

    private func decoded(_ fields: JSONValue, _ codec: TextCodec) throws -> ([Int32], String) {
        guard let ids = try fields.tokenIDs("ids") else {
            throw LineError(.badField, "The line needs `ids`, a list of token ids.")
        }
        let last = codec.tokenizer.vocabularySize - 1
        if let wrong = ids.first(where: { $0 > last }) {
            throw LineError(
                .badField, "`ids` holds the token id \(wrong), but the tokenizer's ids end at \(last).")
        }
        return (ids, codec.tokenizer.decode(ids, skipSpecialTokens: skipSpecialTokens))
    }
}

/// Lines to stdout, in large writes.
final class StandardOutput {
    private var buffer: [UInt8] = []

    func write(line: [UInt8]) throws {
        buffer += line
        buffer.append(0x0A)
        if buffer.count >= 1 << 16 { try flush() }
    }

    func flush() throws {
        try Self.write(buffer)
        buffer = []
    }

    /// - Throws: `UserError`, of kind `closedStream` where nobody reads it.
    static func write(_ bytes: [UInt8]) throws {
        do { try Files.write(bytes, to: 1) } catch {
            throw UserError(
                error.code == EPIPE ? .closedStream : .io, at: "stdout", "can't be written: \(error.reason)")
        }
    }
}
