import ArgumentParser
import Faults
import PhiModel

struct ConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Turn a GGUF file into a model folder.",
        discussion: """
            Takes models of architecture phi2, phi3, phimoe and llama, in F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, \
            Q4_K, Q5_K and Q6_K. The folder gets the weights in MLX's quantized format, config.json and the \
            tokenizer. Weights keep their exact values, but for Q6_K's, which become 8 bits; how far off they are \
            is said at the end.

            EXAMPLE:
              phibatch convert SmolLM2-135M-Instruct.Q4_1.gguf models/smollm2-demo
            """)

    @Argument(help: "The GGUF file.", completion: .file(extensions: ["gguf"]))
    var file: String

    @Argument(help: "The model folder to make.", completion: .directory)
    var folder: String

    @Option(
        help: "Take the tokenizer's files from this folder instead of the GGUF file.", completion: .directory)
    var tokenizer: String?

    @Flag(help: "Leave the tokenizer out; the model then takes token ids only.")
    var noTokenizer = false

    @Flag(help: "Replace a model that is in the folder.")
    var overwrite = false

    @Flag(name: .shortAndLong, help: "No progress; errors only.")
    var quiet = false

    func validate() throws {
        if noTokenizer, tokenizer != nil {
            throw ValidationError("--tokenizer and --no-tokenizer exclude each other.")
        }
    }

    func run() throws {
        try Failure.reported {
            let console = Console(isQuiet: quiet)
            var source = GGUFConverter.Tokenizer.embedded
            if noTokenizer { source = .none }
            if let tokenizer { source = .folder(path: tokenizer) }
            let summary = try GGUFConverter.convert(
                file: file, to: folder, tokenizer: source, overwrite: overwrite
            ) { console.progress("\($0.layersDone) of \($0.layerCount) layers") }
            let bits = summary.matricesByBits.sorted { $0.key < $1.key }
                .map { "\($0.value) matrices of \($0.key) bits" }.joined(separator: ", ")
            console.say(
                "\(folder): \(summary.modelName ?? summary.architecture), \(summary.layerCount) layers, \(bits), "
                    + "\(summary.byteCount / 1_000_000) MB")
            for note in summary.notes { console.warn("\(note)") }
            for loss in summary.losses {
                let percent = (loss.relativeError * 1e5).rounded() / 1000
                console.say(
                    "\(loss.matrices) matrices of \(loss.type) are now \(loss.bits) bits, and off by \(percent) % "
                        + "(root mean square); all others keep their exact values")
            }
        }
    }
}
