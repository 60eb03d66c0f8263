import FoundationShim
import JSON
import OperatingSystem

/// Turns a GGUF file into a model folder in MLX's quantized format. Every weight keeps its exact value, but for
/// Q6_K, of which MLX's format holds 8 bits (`ConversionSummary.losses` says how far off that is).
///
/// Takes models of architecture `phi3`, `phi2`, `phimoe`, `qwen2` and `qwen3`, and `llama`, whose block is a Phi-3 block
/// with q, k, v and gate, up apart; in the types of `GGMLType`.
package enum GGUFConverter {
    /// Source of the tokenizer.
    package enum Tokenizer: Sendable, Equatable {
        /// Out of the GGUF file.
        case embedded
        /// The tokenizer files of this folder, copied: for tokenizers that a GGUF file holds only in part.
        case folder(path: String)
        /// None; the model then takes token ids only.
        case none
    }

    /// - Parameters:
    ///   - path: Of the GGUF file; paths need not be UTF-8.
    ///   - folder: Made if it is not there.
    ///   - overwrite: Replaces a model that is in `folder`. Without it, one is an error.
    ///   - progress: Called before each layer and at the end, on the calling thread.
    /// - Throws: `UserError`: `missing`, `malformed` or `unsupported` for the GGUF file (naming tensor or
    ///   key), `badRequest` for a folder that is in use, `resources` if writing fails. Whenever it throws,
    ///   the folder holds no model that looks complete but is not.
    package static func convert(
        file path: String, to folder: String, tokenizer: Tokenizer = .embedded, overwrite: Bool = false,
        progress: (ConversionProgress) -> Void = { _ in }
    ) throws -> ConversionSummary {
        let source = try GGUFFile(path: path)
        defer { withExtendedLifetime(source) {} }
        let metadata = source.metadata
        let model = try GGUFHyperparameters(metadata)
        let plan = try ConversionPlan(source, model)
        let special = try GGUFSpecialTokens(metadata, vocabularySize: plan.vocabularySize)
        let converted = ConvertedConfiguration(model: model, plan: plan, special: special)

        var files: [(name: String, content: Data)] = []
        func add(_ name: String, _ content: JSONValue) {
            files.append((name, Data(content.indentedText.utf8)))
        }
        let config = try converted.config(metadata)
        // Checks of loading, before anything is written.
        _ = try Architectures.read(ConfigReader(path: path, members: config))
        add("config.json", .object(config))
        switch tokenizer {
        case .embedded:
            let tokenizer = try GGUFTokenizer(
                metadata, special: special, vocabularySize: plan.vocabularySize,
                contextLength: model.contextLength, architecture: model.architecture)
            add("generation_config.json", converted.generationConfig)
            add("tokenizer.json", tokenizer.tokenizer)
            add("tokenizer_config.json", tokenizer.configuration)
            add("special_tokens_map.json", tokenizer.specialTokensMap)
        case .folder(let path):
            files += try ConversionFolder.tokenizerFiles(in: path)
            if !files.contains(where: { $0.name == "generation_config.json" }) {
                add("generation_config.json", converted.generationConfig)
            }
        case .none: add("generation_config.json", converted.generationConfig)
        }
        let weights = WeightFiles(plan.layers.map(\.outputs))
        var summary = try weights.write(
            with: files, to: folder, reading: [path], overwrite: overwrite,
            ComputePool(threads: Processors.count), progress: progress
        ) { plan.layers[$0] }
        (summary.architecture, summary.layerCount) = (model.architecture.rawValue, model.layerCount)
        summary.modelName = try metadata.optionalString("general.name")
        summary.notes = converted.notes
        return summary
    }
}
