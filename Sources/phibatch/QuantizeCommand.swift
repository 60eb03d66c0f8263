import ArgumentParser
import Errors
import ModelHub
import PhiModel

struct QuantizeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quantize",
        abstract: "Quantize a model in BF16, F16 or F32.",
        discussion: """
            Takes a model folder with safetensors (or a name, which is fetched first), and writes one in MLX's \
            quantized format: the same tensors and config.json as mlx_lm.convert -q on a CPU, to the bit. Linear \
            layers and the embedding are quantized, unless their columns make no whole groups. Weights are read a few \
            rows at a time, so a model of any size needs little memory.

            --calibrate improves quality at the same size: the model first reads some pages of a text, and scales and \
            biases are chosen for the smallest error in the columns that matter most there. 4,096 tokens of any text \
            in the model's languages suffice. It takes the time of a prompt of that length.

            --adapter merges a LoRA or DoRA adapter (of PEFT or MLX) into the weights before they are quantized; with \
            --layer '*=none' they stay floats.

            --layer sets the bits of some layers: a path, in which * stands for any characters, then bits, and \
            optionally a group size, or none. Of several that match, the last applies.

            EXAMPLE:
              phibatch quantize microsoft/Phi-4-mini-instruct models/phi-4-mini
              phibatch quantize my-phi models/mine --embedding-bits 6 --layer '*.down_proj=6:32' --layer lm_head=8
              phibatch quantize microsoft/Phi-4-mini-instruct models/phi-4-mini --calibrate text.txt
            """)

    @Argument(help: "The model to read: a folder or a name.", completion: .directory)
    var source: String

    @Argument(help: "The model folder to create.", completion: .directory)
    var folder: String

    @Option(help: "Bits a weight: 2, 3, 4, 5, 6 or 8.")
    var bits = 4

    @Option(help: "Weights that share a scale and a bias: 32, 64 or 128.")
    var groupSize = 64

    @Option(help: "Bits a weight of the embedding.")
    var embeddingBits: Int?

    @Option(
        help: ArgumentHelp(
            "Bits of some layers; may be repeated.", valueName: "pattern=bits[:group]"))
    var layer: [String] = []

    @Option(
        help: ArgumentHelp("A text to choose scales and biases by.", valueName: "file"), completion: .file())
    var calibrate: String?

    @Option(
        help: ArgumentHelp("An adapter to merge into the weights.", valueName: "folder"),
        completion: .directory)
    var adapter: String?

    @Flag(help: "Replace an existing model in the folder.")
    var overwrite = false

    @Flag(name: .shortAndLong, help: "No progress; errors only.")
    var quiet = false

    func validate() throws {
        for (name, value) in [("bits", bits), ("embedding-bits", embeddingBits ?? bits)]
        where !QuantizationParameters.supportedBits.contains(value) {
            throw ValidationError("--\(name) must be 2, 3, 4, 5, 6 or 8.")
        }
        guard QuantizationParameters.supportedGroupSizes.contains(groupSize) else {
            throw ValidationError("--group-size must be 32, 64 or 128.")
        }
        do { for text in layer { _ = try LayerRule(text) } } catch {
            throw ValidationError("--layer: \(error)")
        }
    }

    func run() throws {
        let console = Console(isQuiet: quiet)
        var options = QuantizeOptions(
            standard: QuantizationParameters(groupSize: groupSize, bits: bits))
        options.embeddingBits = embeddingBits
        options.rules = try layer.map { try LayerRule($0) }
        options.overwrite = overwrite
        options.calibration = try calibrate.map { try TextFile.contents(of: $0) }
        options.adapter = adapter
        // Before anything is fetched.
        if let known = try ModelName(source, path: source).known, known.bits < 16 {
            throw UserError(
                .unsupported,
                "\(source): this model is quantized already. Take the original, in BF16, F16 or F32.")
        }
        let model = try ModelFetch(console: console, isOffline: false).source(source, path: source)
        let summary = try Quantizer.quantize(model, to: folder, options: options) { progress in
            console.progress(
                "\(ModelFetch.size(progress.done)) of \(ModelFetch.size(progress.total)), \(progress.layer)"
            )
        }
        report(summary, console)
    }

    private func report(_ summary: QuantizeSummary, _ console: Console) {
        let model = summary.model
        for note in model.notes { console.warn("\(note)") }
        let matrices = model.matricesByBits.sorted { $0.key < $1.key }
            .map { bits, count in
                "\(count) matri\(count == 1 ? "x" : "ces") of \(bits == 0 ? "floats" : "\(bits) bits")"
            }
            .joined(separator: ", ")
        let bits = rounded(8 * Double(summary.byteCount) / Double(max(1, summary.parameterCount)))
        console.say(
            "\(folder): \(model.architecture), \(model.layerCount) layer\(model.layerCount == 1 ? "" : "s"), \(matrices), "
                + "\(ModelFetch.size(summary.sourceByteCount)) are now \(ModelFetch.size(summary.byteCount)), "
                + "\(bits) bits a weight")
        if let first = summary.unfit.first {
            console.say(
                "\(summary.unfit.count) matrices stay floats, as their columns make no whole groups of \(groupSize): "
                    + "\(first)\(summary.unfit.count > 1 ? " and others" : "")")
        }
        if summary.mergedLayers > 0 {
            console.say("the adapter is merged into \(summary.mergedLayers) matrices")
        }
        if summary.calibrationTokens > 0 {
            console.say("scales and biases are chosen by \(summary.calibrationTokens) tokens of the text")
        }
        if !model.hasTokenizer {
            console.say("there is no tokenizer.json, so the model takes token ids only")
        }
    }
}
