import ArgumentParser
import Errors
import OperatingSystem
import PhiModel

struct ConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Convert a GGUF file, or a folder quantized elsewhere, to a model folder.",
        discussion: """
            Takes GGUF files of architecture phi2, phi3, phimoe, llama, qwen2 and qwen3, in \
            \(GGMLType.supportedNames); and folders in AWQ (GEMM), GPTQ (2, 4, 8 bits) and compressed-tensors (4 and 8 \
            bits). The folder gets the weights in MLX's quantized format, config.json and the tokenizer. Weights keep \
            their exact values, except those of Q6_K, GPTQ with desc_act, and blocks of fewer than 32 weights, which \
            become 8 bits; a message gives the error. For other formats take the model in floats and run "phibatch \
            quantize".

            All these formats also run directly: they are converted into the cache once.

            EXAMPLE:
              phibatch convert SmolLM2-135M-Instruct.Q4_1.gguf models/smollm2-demo
            """)

    @Argument(help: "The GGUF file, or the folder.", completion: .file(extensions: ["gguf"]))
    var source: String

    @Argument(help: "The model folder to create.", completion: .directory)
    var folder: String

    @Option(
        help: "Take the tokenizer's files from this folder instead of the GGUF file.", completion: .directory)
    var tokenizer: String?

    @Flag(help: "Leave the tokenizer out; the model then takes token ids only.")
    var noTokenizer = false

    @Flag(help: "Replace an existing model in the folder.")
    var overwrite = false

    @Flag(name: .shortAndLong, help: "No progress; errors only.")
    var quiet = false

    func validate() throws {
        if noTokenizer, tokenizer != nil {
            throw ValidationError("--tokenizer and --no-tokenizer exclude each other.")
        }
    }

    func run() throws {
        let console = Console(isQuiet: quiet)
        var tokenizers = GGUFConverter.Tokenizer.embedded
        if noTokenizer { tokenizers = .none }
        if let tokenizer { tokenizers = .folder(path: tokenizer) }
        guard let model = try PublishedModel(source) else {
            throw UserError(
                Files.kind(of: source) == nil ? .missing : .unsupported, at: source,
                "is neither a GGUF file nor a folder in a format that \"phibatch convert\" takes.")
        }
        let summary = try model.convert(to: folder, tokenizer: tokenizers, overwrite: overwrite) {
            console.progress("\($0.layersDone) of \($0.layerCount) layers")
        }
        let bits = summary.matricesByBits.sorted { $0.key < $1.key }
            .map { "\($0.value) matrices of \($0.key) bits" }.joined(separator: ", ")
        console.say(
            "\(folder): \(summary.modelName ?? summary.architecture), \(summary.layerCount) layers, \(bits), "
                + "\(summary.byteCount / 1_000_000) MB")
        for note in summary.notes { console.warn("\(note)") }
        console.say(losses: summary)
    }
}
