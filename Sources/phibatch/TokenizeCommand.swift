import ArgumentParser
import BatchPipeline
import FoundationShim
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
        let lines = TokenizeLines(
            codec: codec,
            direction: decode
                ? .decode(skipsSpecialTokens: skipSpecialTokens)
                : .encode(addsSpecialTokens: addSpecialTokens, generationPrompt: !noGenerationPrompt))
        let output = StandardOutput()
        try lines.run(inputs: files) { try output.write(line: $0) }
        try output.flush()
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
