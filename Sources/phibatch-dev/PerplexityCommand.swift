import ArgumentParser
import BatchPipeline
import Errors
import FoundationShim
import OperatingSystem
import PhiModel

struct PerplexityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "perplexity",
        abstract: "Measure how well a model predicts a text.",
        discussion: """
            The method is that of llama.cpp's tool, so that numbers are comparable: the text is cut into windows of \
            --context tokens, and the tokens in the second half of each are scored, each after all before it in its \
            window. Lower is better.

            EXAMPLE:
              phibatch-dev perplexity --model models/smollm2-demo text.txt
            """)

    @Option(help: "The model's folder.")
    var model: String

    @Option(help: "Tokens of a window.")
    var context = 512

    @Option(help: "The most windows (default: all).")
    var windows: Int?

    @Option(help: "The engine: \(EngineKind.placeholder).")
    var engine = EngineKind.cpu

    @Option(help: "Precision of the KV cache: int8, int4 or f16.")
    var kv: KVPrecision?

    @Option(help: "Compute threads.")
    var threads: Int?

    @Option(help: "A file to write each counted token's log-probability to, one a line.")
    var each: String?

    @Argument(help: "A text file.")
    var file: String

    func validate() throws {
        if context < 4 { throw ValidationError("--context must be 4 or more.") }
    }

    func run() throws {
        let text = String(decoding: try Files.contents(of: file), as: UTF8.self)
        let options = try EngineSettings(engine, threads: threads, kv: kv).checkedOptions()
        let engine = try engine.entry.load(model, options)
        guard let codec = engine.codec else {
            throw UserError(.missing, at: model, "has no tokenizer.json, which a text needs.")
        }
        let ids = codec.tokenizer.encode(text, addSpecialTokens: true)
        let count = min(windows ?? .max, ids.count / context)
        guard count > 0 else {
            throw UserError(.badRequest, at: file, "has \(ids.count) tokens; a window needs \(context).")
        }
        try measure(engine, ids, windows: count)
    }

    private func measure(_ engine: any ModelEngine, _ ids: [Int32], windows: Int) throws {
        var sum = 0.0
        var squares = 0.0
        var counted = 0
        var lines = ""
        for window in 0..<windows {
            let tokens = Array(ids[window * context..<(window + 1) * context])
            for value in try engine.logProbabilities(of: tokens, from: context / 2 + 1) {
                sum -= value
                squares += value * value
                counted += 1
                if each != nil { lines += "\(value)\n" }
            }
            PhibatchDev.note("window \(window + 1) of \(windows): \(exp(sum / Double(counted)))")
        }
        if let each { try Files.replaceContents(of: each, with: Array(lines.utf8)) }
        let mean = sum / Double(counted)
        let error = ((squares / Double(counted) - mean * mean) / Double(counted)).squareRoot()
        PhibatchDev.note(
            "\(windows) windows of \(context) tokens, \(counted) counted, kernels \(engine.kernelName)"
        )
        print("perplexity \(exp(mean)) +/- \(exp(mean) * error)")
    }
}
